# frozen_string_literal: true

# An HTTP server for bots: each reply leaves in one write, each request is logged in one line.

require 'socket'
require 'uri'

# An HTTP server with a thread for each connection.
class BotServer
  # Bytes that the body of a request may have.
  MAX_BODY = 16 * 1024 * 1024

  # Bytes that the head of a request may have.
  MAX_HEAD = 64 * 1024

  # Characters of an exception that are sent.
  MAX_WORDS = 1000

  TEXT = { 'Content-Type' => 'text/plain; charset=utf-8' }.freeze

  REASONS = {
    200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 404 => 'Not Found',
    409 => 'Conflict', 411 => 'Length Required', 413 => 'Content Too Large',
    431 => 'Request Header Fields Too Large', 500 => 'Internal Server Error'
  }.freeze

  # What came; the names of headers are in lower case.
  Request = Struct.new(:method, :path, :query, :headers, :body, :keep, keyword_init: true)

  # What goes back.
  Reply = Struct.new(:status, :body, :headers) do
    def initialize(status, body = '', headers = {})
      super
    end
  end

  # A request that is answered with a status of 4xx.
  class Refusal < StandardError
    attr_reader :status

    def initialize(status, message = '')
      super(message)
      @status = status
    end
  end

  # Answers requests with the block until SIGTERM or Ctrl-C.
  #
  # Listens on PORT or BOT_PORT (0 for any free port) of BOT_HOST, which is 127.0.0.1 by default.
  def self.serve(default_port, &handle)
    trap('TERM') { exit!(0) }
    trap('INT') { exit!(0) }
    $stdout.sync = $stderr.sync = true
    set = [ENV['PORT'], ENV['BOT_PORT'], default_port.to_s].find { |text| text && !text.empty? }
    new(ENV['BOT_HOST'] || '127.0.0.1', set.to_i, handle).run
  end

  def initialize(host, port, handle)
    @handle = handle
    @server = TCPServer.new(host, port)
    @server.listen(128)
    puts "listening on http://#{host}:#{@server.addr[1]}"
  rescue SystemCallError, SocketError => e
    abort "cannot listen on #{host}:#{port}: #{e.message}"
  end

  def run
    loop { Thread.new(@server.accept) { |client| converse(client) } }
  end

  private

  def converse(client)
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    client.binmode
    nil while answer(client)
  rescue SystemCallError, IOError
    nil # The client is gone.
  ensure
    client.close
  end

  # Answers one request; tells whether the connection is kept.
  def answer(client)
    started = now
    request = read(client)
    return false unless request

    send(client, request, safely(request), started)
  rescue Refusal => e
    refused = Request.new(method: '-', path: '-', keep: false)
    send(client, refused, Reply.new(e.status), started)
  end

  def safely(request)
    @handle.call(request)
  rescue StandardError, ScriptError, SystemStackError => e
    warn e.full_message(highlight: false)
    Reply.new(500, in_words(e), TEXT)
  end

  # Gives an exception, its message, and the innermost line of the program's own file.
  def in_words(error)
    frames = error.backtrace_locations || []
    main = File.expand_path($PROGRAM_NAME)
    at = frames.find { |frame| File.expand_path(frame.path) == main } || frames.first
    place = at ? " (#{File.basename(at.path)}, line #{at.lineno})" : ''
    "#{error.class}: #{error.message}"[0, MAX_WORDS] + place
  end

  # Reads a request; nil if the client is gone.
  def read(client)
    line = client.gets("\r\n", MAX_HEAD)
    return nil unless line
    raise Refusal, 400 unless (found = %r{\A([A-Z]+) (\S+) HTTP/1\.([01])\r\n\z}.match(line))

    headers = read_headers(client)
    path, query = found[2].split('?', 2)
    keep = found[3] == '1' && headers['connection']&.downcase != 'close'
    Request.new(method: found[1], path: path, query: self.class.decode(query.to_s),
                headers: headers, body: read_body(client, headers), keep: keep)
  end

  def read_headers(client)
    headers = {}
    left = MAX_HEAD
    while (line = client.gets("\r\n", left + 1)) && line != "\r\n"
      raise Refusal, 431 if (left -= line.bytesize).negative?

      name, value = line.split(':', 2)
      headers[name.downcase] = value.to_s.strip
    end
    raise EOFError unless line

    headers
  end

  def read_body(client, headers)
    text = headers.fetch('content-length', '0')
    raise Refusal, 411 if headers.key?('transfer-encoding')
    raise Refusal, 400 unless text.match?(/\A[0-9]+\z/)
    raise Refusal, 413 if text.to_i > MAX_BODY

    client.write("HTTP/1.1 100 Continue\r\n\r\n") if headers['expect']&.downcase == '100-continue'
    body = client.read(text.to_i)
    raise EOFError if body.bytesize < text.to_i

    body
  end

  # Writes head and body at once: two writes would cost 40 ms on a kept connection.
  def send(client, request, reply, started)
    headers = { 'Content-Type' => 'application/json', 'Content-Length' => reply.body.bytesize }
    headers.merge!(reply.headers)
    headers['Connection'] = 'close' unless request.keep
    head = headers.map { |name, value| "#{name}: #{value}\r\n" }.join
    # Logged first, so that whoever has the reply can rely on the line.
    milliseconds = format('%.1f', (now - started) * 1000)
    $stderr.write("#{request.method} #{request.path} #{reply.status} #{milliseconds} ms\n")
    client.write("HTTP/1.1 #{reply.status} #{REASONS[reply.status]}\r\n#{head}\r\n#{reply.body}".b)
    request.keep
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # Reads a query or an urlencoded form.
  def self.decode(text)
    text.split('&').to_h { |pair| pair.split('=', 2).then { |a, b| [unescape(a), unescape(b)] } }
  end

  # Decodes runs of codes together: a large form consists of little else.
  def self.unescape(text)
    plain = text.to_s.tr('+', ' ').b
    plain.gsub(/(?:%\h\h)+/n) { |codes| [codes.delete('%')].pack('H*') }.force_encoding('UTF-8')
  end
end
