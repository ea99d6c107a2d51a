package org.nettyrdma.example.nfs.client;

import org.nettyrdma.example.nfs.protocol.StableHow;

/**
 * What a WRITE did.
 *
 * @param count how many bytes of the data were written, from their beginning; at least 0 and at most what was sent
 * @param committed how safe they are; not less than what was asked for
 * @param verifier changes when the server may have lost writes that were not committed (RFC 1813, section 3.3.7)
 */
public record WriteResult(int count, StableHow committed, long verifier) {
}
