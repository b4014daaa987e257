//! vaultrs with nothing but VAULT_ADDR and VAULT_TOKEN: runs the check whose title is the parameter, and panics where it does not hold.

use std::env;

use vaultrs::api::sys::requests::EnableEngineRequest;
use vaultrs::api::token::requests::CreateTokenRequest;
use vaultrs::api::transit::requests::{
    ConfigureCacheRequest, CreateKeyRequest, DataKeyType, DecryptDataRequest, EncryptDataRequest,
    ExportKeyType, ExportVersion, GenerateDataKeyRequest, GenerateHmacRequest, GenerateRandomBytesRequest,
    HashDataRequest, ImportKeyRequest, ImportKeyVersionRequest, RandomBytesSource, RestoreKeyRequest,
    RewrapDataRequest, SignDataRequest, UpdateKeyConfigurationRequest, VerifySignedDataRequest,
};
use vaultrs::api::transit::responses::ReadKeyData;
use vaultrs::api::transit::{HashAlgorithm, KeyType, MarshalingAlgorithm, OutputFormat, SignatureAlgorithm};
use vaultrs::client::{Client, VaultClient, VaultClientSettingsBuilder};
use vaultrs::error::ClientError;
use vaultrs::sys::{self, ServerStatus};
use vaultrs::token;
use vaultrs::transit::{cache, data, generate, key, wrapping_key};

type Checked = Result<(), ClientError>;

const MOUNT: &str = "transit";
/// "attack at dawn"
const PLAINTEXT: &str = "YXR0YWNrIGF0IGRhd24=";
/// "abc"
const ABC: &str = "YWJj";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Checked {
    let client = VaultClient::new(VaultClientSettingsBuilder::default().build().unwrap())?;
    match env::args().nth(1).as_deref() {
        Some("makes, reads, lists, configures, rotates, trims and deletes keys") => keys(&client).await,
        Some("encrypts, decrypts and rewraps") => encryption(&client).await,
        Some("signs and verifies with each algorithm that it knows") => signatures(&client).await,
        Some("gets data keys, random bytes, hashes and HMACs") => generated(&client).await,
        Some("exports, backs up, restores and imports keys") => moving(&client).await,
        Some("asks for health, mounts, policies and tokens") => surroundings(&client).await,
        title => panic!("no check is called {title:?}"),
    }
}

async fn make(client: &VaultClient, name: &str, key_type: KeyType) -> Checked {
    key::create(
        client,
        MOUNT,
        name,
        Some(CreateKeyRequest::builder().key_type(key_type)),
    )
    .await
}

async fn keys(client: &VaultClient) -> Checked {
    let symmetric = [
        KeyType::Aes128Gcm96,
        KeyType::Aes256Gcm96,
        KeyType::Chacha20Poly1305,
    ];
    let asymmetric = [
        KeyType::Ed25519,
        KeyType::EcdsaP256,
        KeyType::EcdsaP384,
        KeyType::EcdsaP521,
        KeyType::Rsa2048,
        KeyType::Rsa3072,
        KeyType::Rsa4096,
    ];
    for (index, key_type) in symmetric.into_iter().chain(asymmetric).enumerate() {
        let name = format!("made-{index}");
        make(client, &name, key_type).await?;
        let read = key::read(client, MOUNT, &name).await?;
        assert_eq!(format!("{:?}", read.key_type), format!("{key_type:?}"));
        match read.keys {
            ReadKeyData::Symmetric(times) => assert!(index < symmetric.len() && times["1"] > 0),
            ReadKeyData::Asymmetric(versions) => assert!(versions["1"].public_key.len() > 40),
        }
        // Also those that sign, for which nothing but Vault's own way needs no more.
        key::rotate(client, MOUNT, &name).await?;
    }
    key::update(
        client,
        MOUNT,
        "made-1",
        Some(
            UpdateKeyConfigurationRequest::builder()
                .min_decryption_version(2)
                .min_encryption_version(2)
                .deletion_allowed(true),
        ),
    )
    .await?;
    key::trim(client, MOUNT, "made-1", 2).await?;
    let read = key::read(client, MOUNT, "made-1").await?;
    assert!(read.deletion_allowed && read.min_decryption_version == 2 && read.min_encryption_version == 2);
    key::delete(client, MOUNT, "made-1").await?;
    let names = key::list(client, MOUNT).await?.keys;
    assert!(names.contains(&"made-0".into()) && !names.contains(&"made-1".into()));
    match key::read(client, MOUNT, "made-1").await {
        Err(ClientError::APIError { code: 404, errors }) => assert!(errors.is_empty()),
        other => panic!("{other:?}"),
    }
    cache::configure(client, MOUNT, Some(ConfigureCacheRequest::builder().size(600u64))).await?;
    assert_eq!(cache::read(client, MOUNT).await?.size, 600);
    Ok(())
}

async fn encryption(client: &VaultClient) -> Checked {
    let derived = &mut CreateKeyRequest::builder();
    derived.derived(true).convergent_encryption(true);
    key::create(client, MOUNT, "letters", Some(derived)).await?;
    let seal = &mut EncryptDataRequest::builder();
    seal.context(ABC);
    let sealed = data::encrypt(client, MOUNT, "letters", PLAINTEXT, Some(seal))
        .await?
        .ciphertext;
    assert!(sealed.starts_with("vault:v1:"), "{sealed}");
    assert_eq!(
        sealed,
        data::encrypt(client, MOUNT, "letters", PLAINTEXT, Some(seal))
            .await?
            .ciphertext
    );
    let open = &mut DecryptDataRequest::builder();
    open.context(ABC);
    assert_eq!(
        data::decrypt(client, MOUNT, "letters", &sealed, Some(open))
            .await?
            .plaintext,
        PLAINTEXT
    );
    refused(data::decrypt(client, MOUNT, "letters", &sealed, Some(open.context(PLAINTEXT))).await);
    make(client, "plain", KeyType::Aes256Gcm96).await?;
    let bound = &mut EncryptDataRequest::builder();
    bound.associated_data(ABC);
    let tied = data::encrypt(client, MOUNT, "plain", PLAINTEXT, Some(bound))
        .await?
        .ciphertext;
    let untie = &mut DecryptDataRequest::builder();
    untie.associated_data(ABC);
    assert_eq!(
        data::decrypt(client, MOUNT, "plain", &tied, Some(untie))
            .await?
            .plaintext,
        PLAINTEXT
    );
    refused(data::decrypt(client, MOUNT, "plain", &tied, None).await);
    let plain = data::encrypt(client, MOUNT, "plain", PLAINTEXT, None)
        .await?
        .ciphertext;
    key::rotate(client, MOUNT, "plain").await?;
    let rewrapped = data::rewrap(
        client,
        MOUNT,
        "plain",
        &plain,
        Some(&mut RewrapDataRequest::builder()),
    )
    .await?
    .ciphertext;
    assert!(rewrapped.starts_with("vault:v2:"), "{rewrapped}");
    assert_eq!(
        data::decrypt(client, MOUNT, "plain", &rewrapped, None)
            .await?
            .plaintext,
        PLAINTEXT
    );
    Ok(())
}

fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) {
    match answer {
        Err(ClientError::APIError { code: 400, errors }) => assert_eq!(errors.len(), 1),
        other => panic!("{other:?}"),
    }
}

async fn signatures(client: &VaultClient) -> Checked {
    let hashes = [
        HashAlgorithm::Sha2_224,
        HashAlgorithm::Sha2_256,
        HashAlgorithm::Sha2_384,
        HashAlgorithm::Sha2_512,
    ];
    for (name, key_type) in [
        ("signer-rsa", KeyType::Rsa2048),
        ("signer-ec", KeyType::EcdsaP256),
        ("signer-ed", KeyType::Ed25519),
    ] {
        make(client, name, key_type).await?;
        for hash in hashes.into_iter().chain([HashAlgorithm::Sha3_256]) {
            for (marshaling, padding) in [
                (MarshalingAlgorithm::Asn1, SignatureAlgorithm::Pss),
                (MarshalingAlgorithm::Jws, SignatureAlgorithm::Pkcs1v15),
            ] {
                let sign = &mut SignDataRequest::builder();
                sign.hash_algorithm(hash)
                    .marshaling_algorithm(marshaling)
                    .signature_algorithm(padding);
                let signature = data::sign(client, MOUNT, name, PLAINTEXT, Some(sign))
                    .await?
                    .signature;
                assert!(signature.starts_with("vault:v1:"), "{signature}");
                let verify = &mut VerifySignedDataRequest::builder();
                verify
                    .hash_algorithm(hash)
                    .marshaling_algorithm(marshaling)
                    .signature_algorithm(padding)
                    .signature(signature);
                assert!(
                    data::verify(client, MOUNT, name, PLAINTEXT, Some(verify))
                        .await?
                        .valid
                );
                assert!(!data::verify(client, MOUNT, name, ABC, Some(verify)).await?.valid);
            }
        }
    }
    Ok(())
}

async fn generated(client: &VaultClient) -> Checked {
    make(client, "wrapper", KeyType::Aes256Gcm96).await?;
    let bits = &mut GenerateDataKeyRequest::builder();
    bits.bits(512u16);
    let plain = generate::data_key(client, MOUNT, "wrapper", DataKeyType::Plaintext, Some(bits)).await?;
    assert_eq!(
        data::decrypt(client, MOUNT, "wrapper", &plain.ciphertext, None)
            .await?
            .plaintext,
        plain.plaintext.unwrap()
    );
    let wrapped = generate::data_key(client, MOUNT, "wrapper", DataKeyType::Wrapped, None).await?;
    assert!(wrapped.plaintext.is_none() && wrapped.ciphertext.starts_with("vault:v1:"));
    let sixteen = &mut GenerateRandomBytesRequest::builder();
    sixteen.bytes(16u32);
    for source in [
        RandomBytesSource::Platform,
        RandomBytesSource::Seal,
        RandomBytesSource::All,
    ] {
        let random = generate::random_bytes(client, MOUNT, OutputFormat::Hex, source, Some(sixteen))
            .await?
            .random_bytes;
        assert_eq!(random.len(), 32, "{random}");
    }
    let hex = &mut HashDataRequest::builder();
    hex.format(OutputFormat::Hex).algorithm(HashAlgorithm::Sha2_256);
    // FIPS 180-4, example of SHA-256
    assert_eq!(
        generate::hash(client, MOUNT, ABC, Some(hex)).await?.sum,
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    let sha3 = &mut GenerateHmacRequest::builder();
    sha3.algorithm(HashAlgorithm::Sha3_512);
    let hmac = generate::hmac(client, MOUNT, "wrapper", PLAINTEXT, Some(sha3))
        .await?
        .hmac;
    let verify = &mut VerifySignedDataRequest::builder();
    verify.hash_algorithm(HashAlgorithm::Sha3_512).hmac(hmac);
    assert!(
        data::verify(client, MOUNT, "wrapper", PLAINTEXT, Some(verify))
            .await?
            .valid
    );
    assert!(
        !data::verify(client, MOUNT, "wrapper", ABC, Some(verify))
            .await?
            .valid
    );
    Ok(())
}

async fn moving(client: &VaultClient) -> Checked {
    let kept = &mut CreateKeyRequest::builder();
    kept.exportable(true)
        .allow_plaintext_backup(true)
        .key_type(KeyType::EcdsaP384);
    key::create(client, MOUNT, "kept", Some(kept)).await?;
    let signature = data::sign(client, MOUNT, "kept", PLAINTEXT, None)
        .await?
        .signature;
    for key_type in [ExportKeyType::SigningKey, ExportKeyType::HmacKey] {
        for version in [
            ExportVersion::All,
            ExportVersion::Latest,
            ExportVersion::Version(1),
        ] {
            assert!(!key::export(client, MOUNT, "kept", key_type, version).await?.keys["1"].is_empty());
        }
    }
    let backup = key::backup(client, MOUNT, "kept").await?.backup;
    key::restore(
        client,
        MOUNT,
        &backup,
        Some(RestoreKeyRequest::builder().name("returned")),
    )
    .await?;
    key::rotate(client, MOUNT, "kept").await?;
    let public = &mut ImportKeyRequest::builder();
    public
        .key_type(KeyType::EcdsaP384)
        .public_key(public_key(client, "kept", "1").await?);
    key::import(client, MOUNT, "known", Some(public)).await?;
    let next = &mut ImportKeyVersionRequest::builder();
    next.public_key(public_key(client, "kept", "2").await?);
    key::import_version(client, MOUNT, "known", Some(next)).await?;
    let verify = &mut VerifySignedDataRequest::builder();
    verify.signature(signature);
    for name in ["returned", "known"] {
        assert!(
            data::verify(client, MOUNT, name, PLAINTEXT, Some(verify))
                .await?
                .valid,
            "{name}"
        );
    }
    assert!(
        wrapping_key::get(client, MOUNT)
            .await?
            .public_key
            .starts_with("-----BEGIN PUBLIC KEY-----")
    );
    Ok(())
}

async fn public_key(client: &VaultClient, name: &str, version: &str) -> Result<String, ClientError> {
    let mut exported = key::export(client, MOUNT, name, ExportKeyType::PublicKey, ExportVersion::All).await?;
    Ok(exported.keys.remove(version).unwrap())
}

async fn surroundings(client: &VaultClient) -> Checked {
    assert!(matches!(client.status().await?, ServerStatus::OK));
    let health = sys::health(client).await?;
    assert!(
        health.initialized && !health.sealed && health.version.starts_with("1."),
        "{}",
        health.version
    );
    sys::mount::enable(
        client,
        "second",
        "transit",
        Some(EnableEngineRequest::builder().description("another")),
    )
    .await?;
    let mounts = sys::mount::list(client).await?;
    assert!(mounts["second/"].description == "another" && mounts["second/"].options.is_none());
    key::create(client, "second", "moved", None).await?;
    let sealed = data::encrypt(client, "second", "moved", PLAINTEXT, None)
        .await?
        .ciphertext;
    assert!(sealed.starts_with("vault:v1:"), "{sealed}");
    let migration = sys::remount::remount(client, "second", "third")
        .await?
        .migration_id;
    assert_eq!(
        sys::remount::remount_status(client, &migration)
            .await?
            .migration_info
            .status,
        "success"
    );
    assert_eq!(
        data::decrypt(client, "third", "moved", &sealed, None)
            .await?
            .plaintext,
        PLAINTEXT
    );
    sys::mount::disable(client, "third").await?;
    let rules = "path \"transit/encrypt/*\" { capabilities = [\"update\"] }";
    sys::policy::set(client, "writer", rules).await?;
    assert_eq!(sys::policy::read(client, "writer").await?.rules, rules);
    assert!(
        sys::policy::list(client)
            .await?
            .policies
            .contains(&"writer".into())
    );
    let limits = &mut CreateTokenRequest::builder();
    limits.policies(vec!["writer".into()]).ttl("1h");
    let made = token::new(client, Some(limits)).await?;
    assert_eq!(made.token_policies, ["default", "writer"]);
    let writer = VaultClient::new(
        VaultClientSettingsBuilder::default()
            .token(&made.client_token)
            .build()
            .unwrap(),
    )?;
    assert!((3500..=3600).contains(&writer.lookup().await?.ttl));
    match key::list(&writer, MOUNT).await {
        Err(ClientError::APIError { code: 403, .. }) => {}
        other => panic!("{other:?}"),
    }
    writer.renew(Some("2h")).await?;
    token::revoke(client, &made.client_token).await?;
    assert!(writer.lookup().await.is_err());
    sys::policy::delete(client, "writer").await
}
