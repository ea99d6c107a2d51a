/**
 * Software iWARP in pure Java: the provider that works everywhere, and on the wire the same protocol as an iWARP card or
 * the Linux {@code siw} driver. Sources: MPA in RFC 5044 with the enhanced connection setup of RFC 6581, DDP in RFC 5041,
 * RDMAP in RFC 5040, the CRC in RFC 3385.
 *
 * <p>The entry class is {@link org.nettyrdma.verbs.iwarp.IwarpProvider}. Reading order: {@code IwarpContext} with
 * {@code ReadySockets} of {@link org.nettyrdma.verbs.support} (one selector per event loop), {@code IwarpQueuePair} (the life
 * of a connection), {@code InboundStream} and {@code InboundMessages} (bytes to messages), {@code OutboundStream} and
 * {@code FpduBatch} (messages to bytes), {@code MpaNegotiation} (how two sides agree), then the {@code *Layout} classes, one
 * per wire format.
 *
 * <p>Threading: everything that belongs to a context is used by that context's thread only and keeps plain fields. The
 * provider, its statistics and registered memory may be used from any thread.
 */
package org.nettyrdma.verbs.iwarp;
