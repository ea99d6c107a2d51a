package programs;

import java.lang.reflect.Method;

/** Prints why the native library of the provider for devices cannot be used, or "null": without a device users are not told. */
final class HasLibrary {

    private HasLibrary() {
    }

    public static void main(String[] arguments) throws Exception {
        Method cause = Class.forName("org.nettyrdma.verbs.disni.NativeLibrary").getDeclaredMethod("unavailabilityCause");
        cause.setAccessible(true);
        System.out.println(cause.invoke(null));
    }
}
