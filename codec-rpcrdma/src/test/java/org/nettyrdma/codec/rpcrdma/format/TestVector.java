package org.nettyrdma.codec.rpcrdma.format;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;

/** One of the public test vectors, which README.md beside them describes. */
public record TestVector(String file, boolean speaksVersionTwo, JsonObject json) {

    private static final String CHARACTERISTICS = "v2-characteristics.json";
    private static final List<String> FILES =
            List.of("v1.json", "v2-messages.json", "v2-errors.json", "v2-properties.json", "v2-bad-input.json", CHARACTERISTICS);

    public static Stream<TestVector> all() {
        List<TestVector> vectors = new ArrayList<>();
        for (String file : FILES) {
            JsonObject content = read(file);
            boolean versionTwo = content.getAsJsonArray("versions").size() == 2;
            for (JsonElement vector : content.getAsJsonArray("vectors")) {
                vectors.add(new TestVector(file, versionTwo, vector.getAsJsonObject()));
            }
        }
        return vectors.stream();
    }

    private static JsonObject read(String file) {
        try (InputStream in = TestVector.class.getResourceAsStream("/vectors/" + file);
             InputStreamReader text = new InputStreamReader(in, StandardCharsets.UTF_8)) {
            return JsonParser.parseReader(text).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The message in hexadecimal digits. */
    public String wire() {
        StringBuilder digits = new StringBuilder();
        for (JsonElement field : json.getAsJsonArray("wire")) {
            JsonArray digitsAndName = field.getAsJsonArray();
            digits.append(digitsAndName.get(0).getAsString());
        }
        return digits.toString();
    }

    /** What the receiver understands beyond the base protocol. */
    public HeaderExtensions extensions() {
        return file.equals(CHARACTERISTICS) ? Characteristics.builder().build().extensions() : HeaderExtensions.NONE;
    }

    boolean isToResponder() {
        return switch (json.get("to").getAsString()) {
            case "responder" -> true;
            case "requester" -> false;
            default -> throw new IllegalStateException(toString());
        };
    }

    /** What the header says, or {@code null} if it is to be refused or dropped. */
    public JsonObject header() {
        return json.getAsJsonObject("header");
    }

    boolean isCanonical() {
        return json.get("canonical").getAsBoolean();
    }

    /** The error that it is to be refused with, or {@code null}. */
    String error() {
        return json.has("error") ? json.get("error").getAsString() : null;
    }

    /** The answer in hexadecimal digits, or {@code null} if there must be none. */
    String answer() {
        return json.has("answer") && !json.get("answer").isJsonNull() ? json.get("answer").getAsString() : null;
    }

    boolean isDropped() {
        return json.has("dropped");
    }

    @Override
    public String toString() {
        return file + ' ' + json.get("name").getAsString();
    }
}
