/**
 * Headers as bytes, for each version. The entry class is {@code RpcRdmaCodec}, a handler; {@code RpcRdmaDecoder} and {@code
 * RpcRdmaEncoder} do its two halves, {@code FormatTable} finds the {@code HeaderFormat} of a version, and the layouts say
 * where each field is. Formats and layouts may be used by any thread, all else belongs to the event loop of a channel.
 */
package org.nettyrdma.codec.rpcrdma.format;
