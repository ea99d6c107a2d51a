/**
 * Transport headers and transport messages of both versions as values, and the extension points of version 2. The entry
 * classes are {@link RpcRdmaMessage}, {@link RpcRdmaHeader} and {@link HeaderExtensions}. Headers never change, and any thread
 * may use them. A message belongs to the event loop of its channel.
 */
package org.nettyrdma.codec.rpcrdma.header;
