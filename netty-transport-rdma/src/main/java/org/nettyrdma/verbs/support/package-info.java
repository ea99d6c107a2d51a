/**
 * What the providers share: the queue of what is to be delivered, and timers. For implementations of the provider interface only.
 */
package org.nettyrdma.verbs.support;
