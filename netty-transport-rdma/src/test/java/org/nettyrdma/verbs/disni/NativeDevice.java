package org.nettyrdma.verbs.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatIbvCQ;
import com.ibm.disni.verbs.impl.NatIbvCompChannel;
import com.ibm.disni.verbs.impl.NatIbvContext;
import com.ibm.disni.verbs.impl.NatIbvMr;
import com.ibm.disni.verbs.impl.NatIbvPd;
import com.ibm.disni.verbs.impl.NatIbvQP;
import com.ibm.disni.verbs.impl.NatRdmaEventChannel;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import com.ibm.disni.verbs.impl.RdmaCmNat;
import com.ibm.disni.verbs.impl.RdmaVerbsNat;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.testkit.TestAddress;

/** An RDMA device with both ends of its connections in this process: what the tests of the native library work on. */
final class NativeDevice implements AutoCloseable {

    private static final String IN_USE = "(errno 16)";
    static final int QUEUE_DEPTH = 32;
    private static final byte RELIABLE_CONNECTED = 2;

    final NativeDispatcher dispatcher;
    final RdmaCm cm;
    final RdmaVerbs verbs;
    final RdmaEventChannel events;
    final RdmaCmId listener;
    final IbvContext context;
    final IbvPd domain;
    final IbvCompChannel completionEvents;
    final IbvCQ completions;
    final ByteBuffer event = direct(NativeExtensions.EVENT_BYTES);

    NativeDevice() throws IOException {
        dispatcher = newDispatcher();
        cm = new RdmaCmNat(dispatcher);
        verbs = new RdmaVerbsNat(dispatcher);
        events = cm.createEventChannel();
        listener = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        NativeExtensions.bindAddress(handle(listener), SocketAddresses.encode(new InetSocketAddress(TestAddress.LOCAL, 0)));
        listener.listen(8);
        context = listener.getVerbs();
        domain = verbs.allocPd(context);
        completionEvents = verbs.createCompChannel(context);
        completions = verbs.createCQ(context, completionEvents, 4 * QUEUE_DEPTH, 0);
    }

    /** DiSNI keeps its dispatcher to itself; the objects that it makes are all public. */
    static NativeDispatcher newDispatcher() throws IOException {
        try {
            Constructor<NativeDispatcher> constructor = NativeDispatcher.class.getDeclaredConstructor();
            constructor.setAccessible(true);
            return constructor.newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IOException(e);
        }
    }

    static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    static long handle(Object object) {
        if (object instanceof NatRdmaEventChannel channel) {
            return channel.getObjId();
        } else if (object instanceof NatCmaIdPrivate id) {
            return id.getObjId();
        } else if (object instanceof NatIbvContext device) {
            return device.getObjId();
        } else if (object instanceof NatIbvPd pd) {
            return pd.getObjId();
        } else if (object instanceof NatIbvCompChannel channel) {
            return channel.getObjId();
        } else if (object instanceof NatIbvCQ queue) {
            return queue.getObjId();
        } else if (object instanceof NatIbvQP queuePair) {
            return queuePair.getObjId();
        } else if (object instanceof NatIbvMr region) {
            return region.getObjId();
        }
        throw new IllegalArgumentException(String.valueOf(object));
    }

    /** Waits for the next event of a channel, which must be of this type, and leaves it in {@link #event}. */
    long awaitEvent(RdmaEventChannel channel, int type) throws IOException {
        while (!NativeExtensions.nextConnectionEvent(handle(channel), event)) {
            if (NativeExtensions.await(new long[] {handle(channel)}, 1, TimeUnit.SECONDS.toNanos(30)) == 0) {
                throw new IOException("no event within 30 seconds, but expected " + type);
            }
        }
        int found = event.getInt(NativeExtensions.EVENT_TYPE);
        if (found != type) {
            throw new IOException("event " + found + " with status " + event.getInt(NativeExtensions.EVENT_STATUS) + ", expected "
                    + type);
        }
        return event.getLong(NativeExtensions.EVENT_ID);
    }

    byte[] eventPrivateData() {
        byte[] data = new byte[event.getInt(NativeExtensions.EVENT_PRIVATE_DATA_LENGTH)];
        event.get(NativeExtensions.EVENT_PRIVATE_DATA, data);
        return data;
    }

    /** Waits for {@code count} completions, which follow each other in what is returned. */
    ByteBuffer awaitCompletions(int count) throws IOException {
        ByteBuffer all = direct(count * NativeExtensions.COMPLETION_BYTES);
        ByteBuffer some = direct(count * NativeExtensions.COMPLETION_BYTES);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (all.hasRemaining()) {
            int polled = NativeExtensions.pollCompletionQueue(handle(completions), some,
                    all.remaining() / NativeExtensions.COMPLETION_BYTES);
            all.put(some.slice(0, polled * NativeExtensions.COMPLETION_BYTES));
            if (polled == 0) {
                if (System.nanoTime() > deadline) {
                    throw new IOException("only " + all.position() / NativeExtensions.COMPLETION_BYTES
                            + " completions within 30 seconds");
                }
                Thread.onSpinWait();
            }
        }
        return all;
    }

    RdmaCmId newId(RdmaEventChannel channel) throws IOException {
        return cm.createId(channel, RdmaCm.RDMA_PS_TCP);
    }

    /** Creates a queue pair for up to 64 bytes of inline data and returns its handle. */
    long newQueuePair(RdmaCmId id) throws IOException {
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.cap().setMax_send_wr(QUEUE_DEPTH);
        attributes.cap().setMax_recv_wr(QUEUE_DEPTH);
        attributes.cap().setMax_inline_data(64);
        attributes.setQp_type(RELIABLE_CONNECTED);
        attributes.setSend_cq(completions);
        attributes.setRecv_cq(completions);
        return handle(cm.createQP(id, domain, attributes));
    }

    IbvMr register(ByteBuffer memory, int access) throws IOException {
        SVCRegMr call = verbs.regMr(domain, memory, access);
        try {
            return call.execute().getMr();
        } finally {
            call.free();
        }
    }

    void deregister(IbvMr region) throws IOException {
        verbs.deregMr(region).execute().free();
    }

    /** Closes all but the context, which every device of this process shares. */
    void closeObjects() throws IOException {
        verbs.destroyCQ(completions);
        verbs.destroyCompChannel(completionEvents);
        verbs.deallocPd(domain);
        listener.destroyId();
        events.destroyEventChannel();
    }

    @Override
    public void close() throws IOException {
        closeObjects();
        try {
            NativeExtensions.closeContext(handle(context));
        } catch (IOException e) {
            if (!e.getMessage().contains(IN_USE)) { // by the provider
                throw e;
            }
        }
    }
}
