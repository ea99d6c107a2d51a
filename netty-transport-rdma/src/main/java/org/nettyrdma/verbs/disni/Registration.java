package org.nettyrdma.verbs.disni;

/**
 * Memory that the device knows.
 *
 * @param handle   names the region in native calls
 * @param address  virtual address of its first byte
 * @param localKey what local work requests quote
 * @param remoteKey what the peer quotes, if the region was registered with remote rights
 */
record Registration(long handle, long address, int localKey, int remoteKey) {
}
