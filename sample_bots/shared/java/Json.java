import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON, which the JDK does not.
 *
 * <p>Values are {@code Map<String, Object>}, {@code List<Object>}, String, Long, Double, Boolean
 * and null.
 */
final class Json {
    private static final int DEEPEST = 500;

    /** Says that a text is no JSON. */
    static final class Wrong extends RuntimeException {
        private static final long serialVersionUID = 1;

        Wrong(String message) {
            super(message, null, false, false);
        }
    }

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads a text; throws Wrong if it is not one JSON value. */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.blanks();
        if (json.at < text.length()) {
            throw json.wrong();
        }
        return value;
    }

    private Wrong wrong() {
        return new Wrong("invalid JSON at character " + at);
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        blanks();
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at);
    }

    private boolean skip(char wanted) {
        boolean found = peek() == wanted;
        at += found ? 1 : 0;
        return found;
    }

    private void expect(char wanted) {
        if (!skip(wanted)) {
            throw wrong();
        }
    }

    private Object value(int depth) {
        if (depth > DEEPEST) {
            throw wrong();
        }
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> object = new LinkedHashMap<>();
        expect('{');
        if (skip('}')) {
            return object;
        }
        do {
            if (peek() != '"') {
                throw wrong();
            }
            String name = string();
            expect(':');
            object.put(name, value(depth + 1));
        } while (skip(','));
        expect('}');
        return object;
    }

    private List<Object> array(int depth) {
        List<Object> array = new ArrayList<>();
        expect('[');
        if (skip(']')) {
            return array;
        }
        do {
            array.add(value(depth + 1));
        } while (skip(','));
        expect(']');
        return array;
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(start, at);
        try {
            return number.matches("-?[0-9]+") ? (Object) Long.valueOf(number) : Double.valueOf(number);
        } catch (NumberFormatException error) {
            throw wrong();
        }
    }

    private String string() {
        int start = ++at;
        while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\') {
            at++;
        }
        StringBuilder made = new StringBuilder(text.substring(start, at));
        while (at < text.length() && text.charAt(at) != '"') {
            char next = text.charAt(at++);
            made.append(next == '\\' ? escaped() : next);
        }
        if (at++ >= text.length()) {
            throw wrong();
        }
        return made.toString();
    }

    private char escaped() {
        int which = at < text.length() ? "\"\\/bfnrtu".indexOf(text.charAt(at++)) : -1;
        if (which < 0 || which == 8 && at + 4 > text.length()) {
            throw wrong();
        }
        if (which < 8) {
            return "\"\\/\b\f\n\r\t".charAt(which);
        }
        at += 4;
        try {
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        } catch (NumberFormatException error) {
            throw wrong();
        }
    }

    /** Writes a value without blanks. */
    static String write(Object value) {
        StringBuilder made = new StringBuilder();
        write(value, made);
        return made.toString();
    }

    private static void write(Object value, StringBuilder made) {
        if (value instanceof Map<?, ?> object) {
            String comma = "{";
            for (Map.Entry<?, ?> entry : object.entrySet()) {
                made.append(comma);
                quote(entry.getKey().toString(), made);
                made.append(':');
                write(entry.getValue(), made);
                comma = ",";
            }
            made.append(object.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> array) {
            String comma = "[";
            for (Object each : array) {
                made.append(comma);
                write(each, made);
                comma = ",";
            }
            made.append(array.isEmpty() ? "[]" : "]");
        } else if (value instanceof String string) {
            quote(string, made);
        } else {
            made.append(value);
        }
    }

    private static void quote(String string, StringBuilder made) {
        made.append('"');
        for (char each : string.toCharArray()) {
            if (each == '"' || each == '\\') {
                made.append('\\').append(each);
            } else if (each < ' ' || each > '~') {
                made.append(String.format("\\u%04x", (int) each));
            } else {
                made.append(each);
            }
        }
        made.append('"');
    }

    /** Gives a member of an object, null if there is none or it is no object. */
    static Object member(Object document, String name) {
        return document instanceof Map<?, ?> object ? object.get(name) : null;
    }

    /** Gives a whole number; throws Wrong for anything else. */
    static int integer(Object value) {
        if (value instanceof Long number && number == number.intValue()) {
            return number.intValue();
        }
        throw new Wrong(value + " is not a whole number");
    }

    /** Gives a list; throws Wrong for anything else. */
    static List<?> list(Object value) {
        if (value instanceof List<?> list) {
            return list;
        }
        throw new Wrong("there is no list");
    }
}
