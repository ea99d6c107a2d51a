/**
 * Characteristics: requests to change transport properties of an established connection, and messages that tell changes
 * (draft-dnoveck-nfsv4-rpcrdma-xcharext-02, called xcharext-02 here). An extension of version 2 (version-two-08, section 9) that
 * is built on the public extension points of {@link org.nettyrdma.codec.rpcrdma} alone, and off unless asked for:
 * <pre>{@code
 * Characteristics characteristics = Characteristics.builder().build();
 * RpcRdma.client().versions(VersionPolicy.PREFER_V2)
 *         .extensions(characteristics.extensions()).extensionHandlers(characteristics::install)
 * ...
 * CharacteristicsHandler.of(channel).request(TransportProperty.RECEIVE_BUFFER_SIZE, 16384L);
 * }</pre>
 *
 * <h2>From xcharext-02 to version-two-08</h2>
 * That draft extends an older revision of version 2, so its names and numbers had to be carried over:
 * <table>
 * <caption>Names and numbers</caption>
 * <tr><th>xcharext-02</th><th>here</th></tr>
 * <tr><td>ROPT_REQXCH, ROPT_RESPXCH, ROPT_UPDXCH in an RDMA_OPTIONAL message</td><td>OPTIONAL header types
 * {@code RDMA2_REQPROP} 7, {@code RDMA2_RESPPROP} 8, {@code RDMA2_UPDPROP} 9, the code points that these had in the revisions of
 * version 2 that described them. Bodies are those of xcharext-02</td></tr>
 * <tr><td>ROPT_INITXCH</td><td>RDMA2_CONNPROP, which does the same and which every peer has; it has no code point of its
 * own here. What a side has not told in it cannot be changed (version-two-08, section 5.3.4), which takes the place of
 * {@code optixch_nochg}</td></tr>
 * <tr><td>RDMA_ERR_INVAL_OPTION</td><td>RDMA2_ERR_INVAL_HTYPE: such a peer has rejected every request</td></tr>
 * <tr><td>Receive Buffer Size, id 1</td><td>the same</td></tr>
 * <tr><td>Backward Request Support, id 3</td><td>Reverse Request Support, id 2</td></tr>
 * <tr><td>Requester Remote Invalidation, id 2</td><td>the id is taken; an
 * {@linkplain org.nettyrdma.codec.rpcrdma.characteristics.Characteristics#REQUESTER_REMOTE_INVALIDATION experimental id}, for
 * peers that have agreed on it. Version 2 itself says in each call what may be invalidated</td></tr>
 * </table>
 *
 * <p>To understand the code read {@code Characteristics}, {@code CharacteristicsHandler}, {@code PeerCharacteristics} with
 * {@code PeerValues}, {@code OwnCharacteristics}.
 */
package org.nettyrdma.codec.rpcrdma.characteristics;
