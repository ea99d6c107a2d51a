/**
 * What requester and responder have in common: the bindings of programs, the places of fields in an RPC message, the reduction
 * of items, the choice of what a message invalidates, promises of writes that others asked for, and the exceptions with their
 * answers. {@code BindingTable} and the functions may be used by any thread, promises say for themselves.
 */
package org.nettyrdma.codec.rpcrdma.shared;
