/**
 * The oldest form of the protocol (draft-ietf-nfsv4-rpcrdma-02): its profile {@link LegacyProfile}, and its Connection
 * Configuration Protocol: {@link ConnectionConfigurationClient} and {@link ConnectionConfigurationProgram}, which any thread may
 * use. All else belongs to the event loop of a channel.
 */
package org.nettyrdma.codec.rpcrdma.legacy;
