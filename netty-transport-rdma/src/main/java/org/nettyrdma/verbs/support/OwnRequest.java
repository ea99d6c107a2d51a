package org.nettyrdma.verbs.support;

import org.nettyrdma.verbs.ConnectionRequest;

/** Tells connection requests of one provider from those of others. */
public final class OwnRequest {

    private OwnRequest() {
    }

    /**
     * The request as the type that a provider gives its requests.
     *
     * @param <T>      that type
     * @param request  a request
     * @param type     the type
     * @param provider name of the provider
     * @return the request
     * @throws IllegalArgumentException if it is of another type, and so of another provider
     */
    public static <T extends ConnectionRequest> T of(ConnectionRequest request, Class<T> type, String provider) {
        if (!type.isInstance(request)) {
            throw new IllegalArgumentException("a connection request of another provider cannot be taken up by " + provider
                    + ": both event loop groups of a ServerBootstrap must have one provider");
        }
        return type.cast(request);
    }
}
