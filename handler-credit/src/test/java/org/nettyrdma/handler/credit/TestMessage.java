package org.nettyrdma.handler.credit;

import io.netty.util.AbstractReferenceCounted;

/** A message that says what a test wants it to say. */
final class TestMessage extends AbstractReferenceCounted implements CreditedMessage {

    private final Role role;
    private final int xid;
    private long credits;
    boolean keepsCredit;
    boolean grantsCredits = true;
    boolean isAnswer;
    boolean isUnstampable;
    Runnable released = () -> { };

    TestMessage(Role role, int xid, long credits) {
        this.role = role;
        this.xid = xid;
        this.credits = credits;
    }

    @Override
    public Role role() {
        return role;
    }

    @Override
    public boolean keepsCredit() {
        return keepsCredit;
    }

    @Override
    public boolean grantsCredits() {
        return grantsCredits;
    }

    @Override
    public boolean isAnswer() {
        return isAnswer;
    }

    @Override
    public int xid() {
        return xid;
    }

    @Override
    public long credits() {
        return credits;
    }

    @Override
    public CreditedMessage withCredits(int newCredits) {
        if (isUnstampable) {
            throw new OutOfMemoryError("expected");
        }
        credits = newCredits;
        return this;
    }

    @Override
    public TestMessage touch(Object hint) {
        return this;
    }

    @Override
    protected void deallocate() {
        released.run();
    }

    @Override
    public String toString() {
        return role + " " + xid + ", credits " + credits;
    }
}
