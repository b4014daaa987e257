import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.Security;
import java.security.Signature;
import java.security.cert.Certificate;
import java.util.Collections;

/** Signs with every key of the token that has a certificate, and verifies with Java's own providers. */
class Signing {
    public static void main(String[] arguments) throws Exception {
        Path configuration = Files.writeString(
            Path.of("token.cfg"), "name = coffer\nlibrary = " + arguments[0] + "\nslotListIndex = 0\n");
        Provider token = Security.getProvider("SunPKCS11").configure(configuration.toString());
        KeyStore keys = KeyStore.getInstance("PKCS11", token);
        keys.load(null, null);
        byte[] message = "hello".getBytes(StandardCharsets.UTF_8);
        for (String alias : Collections.list(keys.aliases())) {
            if (!keys.isKeyEntry(alias)) continue;
            PrivateKey key = (PrivateKey) keys.getKey(alias, null);
            Certificate certificate = keys.getCertificate(alias);
            String algorithm = key.getAlgorithm().equals("EC") ? "SHA256withECDSA" : "SHA256withRSA";
            Signature signer = Signature.getInstance(algorithm, token);
            signer.initSign(key);
            signer.update(message);
            byte[] signature = signer.sign();
            Signature verifier = Signature.getInstance(algorithm);
            verifier.initVerify(certificate.getPublicKey());
            verifier.update(message);
            System.out.println(alias + " " + algorithm + " " + verifier.verify(signature));
        }
    }
}
