//! Encryption of secrets on disk. The encryption key is derived from a passphrase by Argon2id. Authenticated
//! encryption (XChaCha20-Poly1305) detects any change of the encrypted secret.

use crate::sealed::{Sealed, seal};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use rand_core::{OsRng, RngCore};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Least number of characters of a passphrase. A shorter passphrase is quickly found by trial.
const SHORTEST: usize = 8;

const DERIVATION: &str = "derivation";
const NONCE: &str = "nonce";
const CIPHERTEXT: &str = "ciphertext";

/// Key derivation from a passphrase: Argon2id, version 1.3.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Derivation {
    function: Function,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: String,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Function {
    #[serde(rename = "argon2id")]
    Argon2id,
}

impl Derivation {
    /// Key derivation with a new random salt, and the parameters of the second recommendation of RFC 9106,
    /// but with one lane.
    fn fresh() -> Result<Self, String> {
        let salt = BASE64_STANDARD.encode(random::<16>()?);
        Ok(Self { function: Function::Argon2id, memory_kib: 64 << 10, passes: 3, lanes: 1, salt })
    }

    fn key(&self, passphrase: &str) -> Result<[u8; 32], String> {
        let Self { function: Function::Argon2id, memory_kib, passes, lanes, .. } = *self;
        // This limits the memory and time that a file may request.
        if memory_kib > 1 << 20 || passes > 100 || lanes > 64 {
            return Err("its key derivation asks for more than 1 GiB, 100 passes or 64 lanes".into());
        }
        let salt = decoded("salt", &self.salt)?;
        let params = Params::new(memory_kib, passes, lanes, None).map_err(|problem| problem.to_string())?;
        let mut key = [0; 32];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase.as_bytes(), &salt, &mut key)
            .map_err(|problem| problem.to_string())?;
        Ok(key)
    }
}

/// Checks the length of a passphrase.
///
/// # Errors
/// A sentence about a passphrase that is too short.
pub(crate) fn check(passphrase: &str) -> Result<(), String> {
    if passphrase.chars().count() < SHORTEST {
        return Err(format!("a passphrase must have {SHORTEST} characters or more"));
    }
    Ok(())
}

/// Returns the text of a sealed file (JSON with the name `format` and a digest) that holds `secret`,
/// encrypted.
///
/// # Errors
/// A sentence about a passphrase that is too short, or a machine without entropy.
pub(crate) fn encrypt(format: &str, secret: &[u8], passphrase: &str) -> Result<String, String> {
    check(passphrase)?;
    let derivation = Derivation::fresh()?;
    let nonce = random::<24>()?;
    let cipher = XChaCha20Poly1305::new(&derivation.key(passphrase)?.into());
    let payload = Payload { msg: secret, aad: format.as_bytes() };
    let ciphertext = cipher.encrypt(&nonce.into(), payload).map_err(|problem| problem.to_string())?;
    let derivation = serde_json::to_value(derivation).map_err(|problem| problem.to_string())?;
    let body: [(&str, Value); 3] = [
        (DERIVATION, derivation),
        (NONCE, BASE64_STANDARD.encode(nonce).into()),
        (CIPHERTEXT, BASE64_STANDARD.encode(ciphertext).into()),
    ];
    let body = body.into_iter().map(|(name, value)| (name.to_owned(), value));
    seal(format, Map::from_iter(body)).map_err(|problem| problem.to_string())
}

/// Checks that the file is unchanged, and decrypts the secret that [`encrypt`] wrote.
///
/// # Errors
/// A sentence about the problem with the file or the passphrase.
pub(crate) fn decrypt(format: &str, sealed: &Sealed, passphrase: &str) -> Result<Vec<u8>, String> {
    let derivation: Derivation = sealed.field(DERIVATION)?;
    let nonce = decoded(NONCE, &sealed.field::<String>(NONCE)?)?;
    let nonce: [u8; 24] = nonce.try_into().map_err(|_| "its nonce does not have 24 bytes".to_owned())?;
    let ciphertext = decoded(CIPHERTEXT, &sealed.field::<String>(CIPHERTEXT)?)?;
    sealed.check_untouched()?;
    let cipher = XChaCha20Poly1305::new(&derivation.key(passphrase)?.into());
    let payload = Payload { msg: &ciphertext, aad: format.as_bytes() };
    let wrong = "the passphrase is wrong, and nothing was read";
    cipher.decrypt(&nonce.into(), payload).map_err(|_| wrong.into())
}

fn decoded(name: &str, text: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD.decode(text).map_err(|problem| format!("its {name} is not base64: {problem}"))
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    OsRng.try_fill_bytes(&mut bytes).map_err(|problem| problem.to_string())?;
    Ok(bytes)
}
