package org.nettyrdma.codec.rpcrdma.characteristics;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import org.nettyrdma.codec.rpcrdma.format.HeaderJson;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;

/** Says the body of a message of the extension as the test vectors do. */
public final class CharacteristicsJson {

    private CharacteristicsJson() {
    }

    public static void add(Object body, JsonObject json) {
        if (body instanceof PropertyRequest request) {
            json.add("properties", HeaderJson.properties(request.wanted()));
        } else if (body instanceof PropertyResponse response) {
            json.add("done", positions(response.done()));
            json.add("rejected", positions(response.rejected()));
            json.add("pending", positions(response.pending()));
        } else if (body instanceof PropertyUpdate update) {
            json.add("property", HeaderJson.property(update.now()));
            json.addProperty("pendingCleared", update.pendingCleared());
        }
    }

    private static JsonArray positions(PropertySubset subset) {
        JsonArray json = new JsonArray();
        for (int i = 0; i < PropertySet.MAX_ENTRIES; i++) {
            if (subset.contains(i)) {
                json.add(i);
            }
        }
        return json;
    }
}
