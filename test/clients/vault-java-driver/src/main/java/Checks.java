import io.github.jopenlibs.vault.Vault;
import io.github.jopenlibs.vault.VaultConfig;
import io.github.jopenlibs.vault.VaultException;
import io.github.jopenlibs.vault.api.Auth;
import io.github.jopenlibs.vault.api.sys.mounts.Mount;
import io.github.jopenlibs.vault.api.sys.mounts.MountPayload;
import io.github.jopenlibs.vault.api.sys.mounts.MountType;
import io.github.jopenlibs.vault.api.sys.mounts.TimeToLive;
import io.github.jopenlibs.vault.response.LogicalResponse;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** The driver with nothing but VAULT_ADDR and VAULT_TOKEN: runs the check whose title is the parameter, and fails where it does not hold. */
public final class Checks {
  /** "attack at dawn" */
  private static final String PLAINTEXT = "YXR0YWNrIGF0IGRhd24=";

  private static Vault vault;

  public static void main(String[] parameters) throws VaultException {
    // Its other version puts "data" into the paths of a KV engine.
    vault = Vault.create(new VaultConfig().engineVersion(1).build());
    switch (parameters[0]) {
      case "works with keys by path" -> keys();
      case "encrypts, signs and backs up by path" -> data();
      case "asks for health, mounts and tokens" -> surroundings();
      default -> throw new AssertionError("no such check");
    }
  }

  private static void keys() throws VaultException {
    write("transit/keys/orders", Map.of("type", "ed25519"));
    write("transit/keys/orders/rotate", Map.of());
    LogicalResponse read = vault.logical().read("transit/keys/orders");
    same("ed25519", read.getData().get("type"));
    same(2, read.getDataObject().getInt("latest_version"));
    write("transit/keys/orders/config", Map.of("deletion_allowed", true));
    holds(vault.logical().list("transit/keys").getListData().contains("orders"));
    vault.logical().delete("transit/keys/orders");
    same(404, vault.logical().read("transit/keys/orders").getRestResponse().getStatus());
  }

  private static void data() throws VaultException {
    write("transit/keys/letters", Map.of("exportable", true, "allow_plaintext_backup", true));
    String sealed = write("transit/encrypt/letters", Map.of("plaintext", PLAINTEXT)).get("ciphertext");
    holds(sealed.startsWith("vault:v1:"));
    write("transit/keys/letters/rotate", Map.of());
    String rewrapped = write("transit/rewrap/letters", Map.of("ciphertext", sealed)).get("ciphertext");
    holds(rewrapped.startsWith("vault:v2:"));
    String backup = vault.logical().read("transit/backup/letters").getData().get("backup");
    write("transit/restore/returned", Map.of("backup", backup));
    same(PLAINTEXT, write("transit/decrypt/returned", Map.of("ciphertext", rewrapped)).get("plaintext"));
    write("transit/keys/signer", Map.of("type", "ecdsa-p256"));
    String signature = write("transit/sign/signer", Map.of("input", PLAINTEXT)).get("signature");
    holds(signature.startsWith("vault:v1:"));
    same("true", write("transit/verify/signer", Map.of("input", PLAINTEXT, "signature", signature)).get("valid"));
    same("false", write("transit/verify/signer", Map.of("input", "", "signature", signature)).get("valid"));
    LogicalResponse refused = vault.logical().write("transit/decrypt/letters", Map.of("ciphertext", "nonsense"));
    same(400, refused.getRestResponse().getStatus());
  }

  private static void surroundings() throws VaultException {
    holds(vault.debug().health().getInitialized() && !vault.debug().health().getSealed());
    holds(!vault.seal().sealStatus().getSealed());
    MountPayload settings = new MountPayload().description("another").maxLeaseTtl(TimeToLive.of(1, TimeUnit.HOURS));
    vault.sys().mounts().enable("second", MountType.TRANSIT, settings);
    Mount mount = vault.sys().mounts().list().getMounts().get("second/");
    same("another", mount.getDescription());
    same(3600, mount.getConfig().getMaxLeaseTtl());
    vault.sys().mounts().disable("second");
    holds(!vault.sys().mounts().list().getMounts().containsKey("second/"));
    Auth.TokenRequest request = new Auth.TokenRequest().polices(List.of("default")).ttl("1h");
    String token = vault.auth().createToken(request).getAuthClientToken();
    Vault own = Vault.create(new VaultConfig().engineVersion(1).token(token).build());
    holds(own.auth().lookupSelf().getTTL() > 3500);
    own.auth().renewSelf();
    own.auth().revokeSelf();
    same(403, own.logical().list("transit/keys").getRestResponse().getStatus());
  }

  private static Map<String, String> write(String path, Map<String, Object> parameters) throws VaultException {
    LogicalResponse answer = vault.logical().write(path, parameters);
    holds(answer.getRestResponse().getStatus() < 300);
    return answer.getData();
  }

  private static void same(Object expected, Object found) {
    if (!Objects.equals(expected, found)) throw new AssertionError("not " + expected + ": " + found);
  }

  private static void holds(boolean fact) {
    if (!fact) throw new AssertionError();
  }
}
