import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.springframework.vault.VaultException;
import org.springframework.vault.authentication.TokenAuthentication;
import org.springframework.vault.client.VaultEndpoint;
import org.springframework.vault.core.VaultTemplate;
import org.springframework.vault.core.VaultTransitOperations;
import org.springframework.vault.support.Ciphertext;
import org.springframework.vault.support.Hmac;
import org.springframework.vault.support.Plaintext;
import org.springframework.vault.support.Policy;
import org.springframework.vault.support.Signature;
import org.springframework.vault.support.TransitKeyType;
import org.springframework.vault.support.VaultDecryptionResult;
import org.springframework.vault.support.VaultHealth;
import org.springframework.vault.support.VaultHmacRequest;
import org.springframework.vault.support.VaultMount;
import org.springframework.vault.support.VaultSignRequest;
import org.springframework.vault.support.VaultSignatureVerificationRequest;
import org.springframework.vault.support.VaultTokenRequest;
import org.springframework.vault.support.VaultTransitContext;
import org.springframework.vault.support.VaultTransitKey;
import org.springframework.vault.support.VaultTransitKeyConfiguration;
import org.springframework.vault.support.VaultTransitKeyCreationRequest;

/** Spring Vault with nothing but VAULT_ADDR and VAULT_TOKEN: runs the check whose title is the parameter, and fails where it does not hold. */
public final class Checks {
  private static final String TEXT = "attack at dawn";

  private static final VaultTemplate VAULT = as(System.getenv("VAULT_TOKEN"));
  private static final VaultTransitOperations TRANSIT = VAULT.opsForTransit();

  private static final Map<String, Runnable> CHECKS =
      Map.of(
          "makes keys of every type, describes, configures, rotates, lists and deletes them", Checks::keys,
          "encrypts, decrypts and rewraps, with contexts and in batches", Checks::encryption,
          "signs and verifies, by signature and by HMAC", Checks::signatures,
          "exports keys, and is refused those that are not to leave", Checks::exports,
          "mounts, writes policies and makes tokens", Checks::surroundings);

  public static void main(String[] parameters) {
    CHECKS.get(parameters[0]).run();
  }

  private static VaultTemplate as(String token) {
    return new VaultTemplate(
        VaultEndpoint.from(URI.create(System.getenv("VAULT_ADDR"))), new TokenAuthentication(token));
  }

  private static void keys() {
    List<String> types =
        List.of(
            "aes128-gcm96", "aes256-gcm96", "chacha20-poly1305", "xchacha20-poly1305", "ed25519", "ecdsa-p256",
            "ecdsa-p384", "ecdsa-p521", "rsa-2048", "rsa-3072", "rsa-4096");
    for (String type : types) {
      TRANSIT.createKey(type, VaultTransitKeyCreationRequest.ofKeyType(type));
      TRANSIT.rotate(type);
      VaultTransitKey key = TRANSIT.getKey(type);
      same(type, key.getType());
      same(2, key.getLatestVersion());
      same(2, key.getKeys().size());
    }
    TRANSIT.createKey("own");
    TRANSIT.rotate("own");
    TRANSIT.configureKey(
        "own",
        VaultTransitKeyConfiguration.builder()
            .minDecryptionVersion(2)
            .minEncryptionVersion(2)
            .deletionAllowed(true)
            .build());
    VaultTransitKey own = TRANSIT.getKey("own");
    same(2, own.getMinDecryptionVersion());
    same(2, own.getMinEncryptionVersion());
    holds(own.supportsEncryption() && own.supportsDecryption() && own.supportsDerivation());
    holds(!own.supportsSigning() && !own.isExportable() && own.isDeletionAllowed());
    TRANSIT.deleteKey("own");
    same(null, TRANSIT.getKey("own"));
    holds(TRANSIT.getKeys().containsAll(types) && !TRANSIT.getKeys().contains("own"));
  }

  private static void encryption() {
    TRANSIT.createKey("plain");
    String first = TRANSIT.encrypt("plain", TEXT);
    holds(first.startsWith("vault:v1:"));
    TRANSIT.rotate("plain");
    String second = TRANSIT.rewrap("plain", first);
    holds(second.startsWith("vault:v2:"));
    same(TEXT, TRANSIT.decrypt("plain", second));
    String old = TRANSIT.encrypt("plain", TEXT.getBytes(), VaultTransitContext.builder().keyVersion(1).build());
    holds(old.startsWith("vault:v1:"));
    List<Ciphertext> batch =
        TRANSIT.encrypt("plain", List.of(Plaintext.of(TEXT), Plaintext.empty())).stream()
            .map(result -> result.get())
            .toList();
    batch.forEach(item -> holds(item.getCiphertext().startsWith("vault:v2:")));
    List<Ciphertext> rewrapped =
        TRANSIT.rewrap("plain", batch).stream().map(result -> result.get()).toList();
    same(List.of(TEXT, ""), TRANSIT.decrypt("plain", rewrapped).stream().map(VaultDecryptionResult::getAsString).toList());
    refused("400", () -> TRANSIT.decrypt("plain", "nonsense"));
    // As with Vault since 1.6, one item that fails decides the status of a batch.
    refused("400", () -> TRANSIT.decrypt("plain", List.of(batch.get(0), Ciphertext.of("vault:v2:AAAA"))));

    TRANSIT.createKey("derived", VaultTransitKeyCreationRequest.builder().derived(true).convergentEncryption(true).build());
    VaultTransitContext context = VaultTransitContext.fromContext("tenant".getBytes());
    String converged = TRANSIT.encrypt("derived", TEXT.getBytes(), context);
    same(converged, TRANSIT.encrypt("derived", TEXT.getBytes(), context));
    same(converged, TRANSIT.rewrap("derived", converged, context));
    same(TEXT, new String(TRANSIT.decrypt("derived", converged, context)));
    same(TEXT, TRANSIT.decrypt("derived", Ciphertext.of(converged).with(context)).asString());
    refused("400", () -> TRANSIT.decrypt("derived", converged, VaultTransitContext.fromContext("other".getBytes())));
  }

  private static void signatures() {
    Plaintext text = Plaintext.of(TEXT);
    for (String type : List.of("ed25519", "ecdsa-p256", "ecdsa-p521", "rsa-2048")) {
      String name = "signer-" + type;
      TRANSIT.createKey(name, VaultTransitKeyCreationRequest.ofKeyType(type));
      Signature signature = TRANSIT.sign(name, text);
      holds(signature.getSignature().startsWith("vault:v1:"));
      holds(TRANSIT.verify(name, text, signature));
      holds(!TRANSIT.verify(name, Plaintext.of("another"), signature));
    }
    Signature pkcs =
        TRANSIT.sign(
            "signer-rsa-2048",
            VaultSignRequest.builder().plaintext(text).hashAlgorithm("sha2-512").signatureAlgorithm("pkcs1v15").build());
    VaultSignatureVerificationRequest asSigned =
        VaultSignatureVerificationRequest.builder()
            .plaintext(text)
            .signature(pkcs)
            .hashAlgorithm("sha2-512")
            .signatureAlgorithm("pkcs1v15")
            .build();
    holds(TRANSIT.verify("signer-rsa-2048", asSigned).isValid());
    holds(!TRANSIT.verify("signer-rsa-2048", text, pkcs));
    TRANSIT.createKey("mac");
    Hmac hmac = TRANSIT.getHmac("mac", text);
    holds(hmac.getHmac().startsWith("vault:v1:"));
    holds(TRANSIT.verify("mac", VaultSignatureVerificationRequest.create(text, hmac)).isValid());
    TRANSIT.rotate("mac");
    Hmac older = TRANSIT.getHmac("mac", VaultHmacRequest.builder().plaintext(text).keyVersion(1).build());
    same(hmac, older);
    Hmac longer = TRANSIT.getHmac("mac", VaultHmacRequest.builder().plaintext(text).algorithm("sha2-512").build());
    holds(longer.getHmac().startsWith("vault:v2:"));
    refused("400", () -> TRANSIT.sign("mac", text));
  }

  private static void exports() {
    VaultTransitKeyCreationRequest.VaultTransitKeyCreationRequestBuilder free =
        VaultTransitKeyCreationRequest.builder().exportable(true).allowPlaintextBackup(true);
    TRANSIT.createKey("free", free.build());
    TRANSIT.createKey("free-signer", free.type("ecdsa-p384").build());
    TRANSIT.createKey("bound");
    holds(!TRANSIT.exportKey("free", TransitKeyType.ENCRYPTION_KEY).getKeys().get("1").isEmpty());
    holds(!TRANSIT.exportKey("free", TransitKeyType.HMAC_KEY).getKeys().get("1").isEmpty());
    holds(TRANSIT.exportKey("free-signer", TransitKeyType.SIGNING_KEY).getKeys().get("1").startsWith("-----BEGIN EC PRIVATE KEY-----"));
    refused("400", () -> TRANSIT.exportKey("free", TransitKeyType.SIGNING_KEY));
    refused("400", () -> TRANSIT.exportKey("bound", TransitKeyType.ENCRYPTION_KEY));
    String sealed = TRANSIT.encrypt("free", TEXT);
    Object backup = VAULT.read("transit/backup/free").getRequiredData().get("backup");
    VAULT.write("transit/restore/returned", Map.of("backup", backup));
    same(TEXT, TRANSIT.decrypt("returned", sealed));
  }

  private static void surroundings() {
    VaultHealth health = VAULT.opsForSys().health();
    holds(health.isInitialized() && !health.isSealed() && !health.isStandby() && health.getVersion().startsWith("1."));
    VAULT.opsForSys().mount("second", VaultMount.builder().type("transit").description("another").config(Map.of("max_lease_ttl", "1h")).build());
    VaultMount mount = VAULT.opsForSys().getMounts().get("second/");
    same("another", mount.getDescription());
    same(3600, mount.getConfig().get("max_lease_ttl"));
    VaultTransitOperations second = VAULT.opsForTransit("second");
    second.createKey("own");
    holds(second.encrypt("own", TEXT).startsWith("vault:v1:"));
    VAULT.opsForSys().unmount("second");
    holds(!VAULT.opsForSys().getMounts().containsKey("second/"));

    VAULT.opsForSys()
        .createOrUpdatePolicy(
            "writer",
            Policy.of(Policy.Rule.builder().path("transit/encrypt/*").capability(Policy.BuiltinCapabilities.UPDATE).build()));
    holds(VAULT.opsForSys().getPolicyNames().contains("writer"));
    String token =
        VAULT.opsForToken()
            .create(VaultTokenRequest.builder().withPolicy("writer").ttl(Duration.ofHours(1)).renewable().build())
            .getToken()
            .getToken();
    TRANSIT.createKey("letters");
    holds(as(token).opsForTransit().encrypt("letters", TEXT).startsWith("vault:v1:"));
    refused("403", () -> as(token).opsForTransit().getKeys());
    VAULT.opsForSys().deletePolicy("writer");
  }

  private static void refused(String status, Runnable call) {
    try {
      call.run();
    } catch (VaultException refusal) {
      holds(refusal.getMessage().contains("Status " + status));
      return;
    }
    throw new AssertionError("not refused");
  }

  private static void same(Object expected, Object found) {
    if (!Objects.equals(expected, found)) throw new AssertionError("not " + expected + ": " + found);
  }

  private static void holds(boolean fact) {
    if (!fact) throw new AssertionError();
  }
}
