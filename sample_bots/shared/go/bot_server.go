package main

// An HTTP server for bots: each reply leaves in one write, each request is logged in one line.

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

// MaxBody is how many bytes the body of a request may have.
const MaxBody = 16 * 1024 * 1024

// maxWords is how many bytes of what was raised are sent.
const maxWords = 1000

var mainFile string

// Reply is what goes back; a Status of 0 is 200.
type Reply struct {
	Status    int
	Body      []byte
	Signature string
}

// Refusal is an error that is answered with a status of 4xx.
type Refusal struct {
	Status  int
	Message string
}

func (refusal *Refusal) Error() string { return refusal.Message }

func refuse(status int, format string, values ...any) error {
	return &Refusal{status, fmt.Sprintf(format, values...)}
}

// Serve answers requests with handle until SIGTERM or Ctrl-C.
//
// It listens on PORT or BOT_PORT (0 for any free port) of BOT_HOST, which is 127.0.0.1 by default.
func Serve(handle func(*http.Request, []byte) Reply, defaultPort int) {
	address := net.JoinHostPort(setting("BOT_HOST", "127.0.0.1"),
		setting("PORT", setting("BOT_PORT", strconv.Itoa(defaultPort))))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot listen on %s: %v\n", address, err)
		os.Exit(1)
	}
	exitAtSignals()
	mainFile = fileOfMain()
	fmt.Printf("listening on http://%s\n", listener.Addr())
	http.Serve(listener, http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		serveOne(handle, writer, request)
	}))
}

func setting(name, otherwise string) string {
	if text := os.Getenv(name); text != "" {
		return text
	}
	return otherwise
}

func exitAtSignals() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		os.Exit(0)
	}()
}

func serveOne(handle func(*http.Request, []byte) Reply, writer http.ResponseWriter, request *http.Request) {
	started := time.Now()
	body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, MaxBody))
	reply := Reply{Status: http.StatusRequestEntityTooLarge}
	if request.ContentLength > MaxBody {
		writer.Header().Set("Connection", "close")
	} else if err != nil {
		reply.Status = http.StatusBadRequest
	} else {
		reply = safely(handle, request, body)
	}
	send(writer, request, reply, started)
}

func safely(handle func(*http.Request, []byte) Reply, request *http.Request, body []byte) (reply Reply) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", problem, debug.Stack())
			reply = Reply{Status: http.StatusInternalServerError, Body: inWords(problem)}
		}
	}()
	return handle(request, body)
}

// inWords gives what was raised, and the innermost line of the file with the function main.
func inWords(problem any) []byte {
	words := fmt.Sprint(problem)
	if len(words) > maxWords {
		words = words[:maxWords]
	}
	counters := make([]uintptr, 256)
	frames := runtime.CallersFrames(counters[:runtime.Callers(0, counters)])
	for {
		frame, more := frames.Next()
		if frame.File == mainFile {
			return []byte(fmt.Sprintf("%s (%s, line %d)", words, filepath.Base(frame.File), frame.Line))
		}
		if !more {
			return []byte(words)
		}
	}
}

// fileOfMain gives the file of the function main, which must be on the stack.
func fileOfMain() string {
	counters := make([]uintptr, 64)
	frames := runtime.CallersFrames(counters[:runtime.Callers(0, counters)])
	for {
		frame, more := frames.Next()
		if frame.Function == "main.main" || !more {
			return frame.File
		}
	}
}

// send writes the reply. Of a body that fits its buffer, net/http makes one write with the head;
// the others are so large that a second write costs nothing.
func send(writer http.ResponseWriter, request *http.Request, reply Reply, started time.Time) {
	if reply.Status == 0 {
		reply.Status = http.StatusOK
	}
	header := writer.Header()
	header.Set("Content-Type", "application/json")
	if reply.Status == http.StatusInternalServerError {
		header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	header.Set("Content-Length", strconv.Itoa(len(reply.Body)))
	if reply.Signature != "" {
		header["X-ACB-Signature"] = []string{reply.Signature}
	}
	// Logged first, so that whoever has the reply can rely on the line.
	milliseconds := float64(time.Since(started).Microseconds()) / 1000
	fmt.Fprintf(os.Stderr, "%s %s %d %.1f ms\n", request.Method, request.URL.Path, reply.Status, milliseconds)
	writer.WriteHeader(reply.Status)
	writer.Write(reply.Body)
}
