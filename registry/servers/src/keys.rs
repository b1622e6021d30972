//! Keys of the two servers, and encryption to them by HPKE (RFC 9180).

use crate::role::Role;
use crate::{Error, Result};
use hpke::aead::{AeadCtxR, AeadCtxS, ChaCha20Poly1305};
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, Kem, OpModeR, OpModeS, Serializable};
use scumble_core::Randomness;
use scumble_core::text::hexadecimal;
use scumble_custody::sealed;
use sha2::{Digest, Sha256};
use std::fmt;

/// Formats that this version writes and reads.
const SECRET: &str = "scumble-server-key-1";
const PUBLIC: &str = "scumble-server-public-key-1";

type Private = <X25519HkdfSha256 as Kem>::PrivateKey;
type Public = <X25519HkdfSha256 as Kem>::PublicKey;
type Encapsulated = <X25519HkdfSha256 as Kem>::EncappedKey;
/// Encryption of several messages in order.
pub(crate) type Sealer = AeadCtxS<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>;
/// Decryption of several messages in order.
pub(crate) type Opener = AeadCtxR<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>;

/// Number of bytes of an encapsulated key, with which each encrypted share begins.
const ENCAPSULATED: usize = 32;
/// Number of bytes by which a ciphertext is longer than its text.
const TAG: usize = 16;

/// Number of bytes of the encryption of `length` bytes.
pub(crate) fn sealed_length(length: usize) -> usize {
    ENCAPSULATED + length + TAG
}

/// Public key of a server. Devices encrypt shares to it.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PublicKey({})", hexadecimal(&self.0))
    }
}

impl PublicKey {
    /// Text of the file of the key.
    ///
    /// # Errors
    /// [`Error::File`] if the key cannot be serialized.
    pub fn to_json(&self) -> Result<String> {
        write(PUBLIC, [("key", &self.0)])
    }

    /// Reads the text of a file, which `file` names in errors.
    ///
    /// # Errors
    /// [`Error::File`] for text that is not a public key.
    pub fn from_json(text: &str, file: &str) -> Result<Self> {
        let [key] = read(text, PUBLIC, ["key"]).map_err(Error::of_file(file))?;
        let made = Self(key);
        made.hpke().map_err(|_| Error::file(file, "its key is not a point of Curve25519"))?;
        Ok(made)
    }

    fn hpke(&self) -> std::result::Result<Public, hpke::HpkeError> {
        Public::from_bytes(&self.0)
    }

    /// Encrypts a share to this key, for the purpose `info`, bound to `bound`. The encapsulated key comes
    /// first.
    pub(crate) fn seal(&self, info: &[u8], share: &[u8], bound: &[u8]) -> Result<Vec<u8>> {
        let sealed = self.hpke().and_then(|key| {
            hpke::single_shot_seal::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
                &OpModeS::Base,
                &key,
                info,
                share,
                bound,
            )
        });
        let (encapsulated, ciphertext) =
            sealed.map_err(|problem| Error::file("the report", problem.to_string()))?;
        Ok([&encapsulated.to_bytes()[..], &ciphertext].concat())
    }
}

/// Secret key of a server: it decrypts shares, and determines the server's noise.
#[derive(Clone)]
pub struct ServerKey {
    private: [u8; 32],
    noise: [u8; 32],
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerKey").field("public", &self.public()).finish_non_exhaustive()
    }
}

impl ServerKey {
    /// New key from the entropy of the operating system.
    ///
    /// # Errors
    /// [`Error::Core`] if the operating system has no entropy.
    pub fn generate() -> Result<Self> {
        use rand_core::RngCore;
        let streams = Randomness::from_os()?.streams();
        let [mut private, mut noise] = [[0; 32]; 2];
        streams.stream(0).fill_bytes(&mut private);
        streams.stream(1).fill_bytes(&mut noise);
        Ok(Self { private, noise })
    }

    /// Text of the file of the key. Only the server may read it.
    ///
    /// # Errors
    /// [`Error::File`] if the key cannot be serialized.
    pub fn to_json(&self) -> Result<String> {
        write(SECRET, [("private", &self.private), ("noise", &self.noise)])
    }

    /// Reads the text of a file, which `file` names in errors.
    ///
    /// # Errors
    /// [`Error::File`] for text that is not a server's key.
    pub fn from_json(text: &str, file: &str) -> Result<Self> {
        let [private, noise] = read(text, SECRET, ["private", "noise"]).map_err(Error::of_file(file))?;
        Ok(Self { private, noise })
    }

    /// Public key that belongs to this key.
    pub fn public(&self) -> PublicKey {
        PublicKey(x25519_dalek::PublicKey::from(&self.agreement()).to_bytes())
    }

    fn agreement(&self) -> x25519_dalek::StaticSecret {
        x25519_dalek::StaticSecret::from(self.private)
    }

    fn hpke(&self) -> std::result::Result<Private, hpke::HpkeError> {
        Private::from_bytes(&self.private)
    }

    /// Decrypts a share that [`PublicKey::seal`] encrypted; `None` if it was encrypted to another key, for
    /// another purpose, or changed.
    pub(crate) fn open(&self, info: &[u8], sealed: &[u8], bound: &[u8]) -> Option<Vec<u8>> {
        let (encapsulated, ciphertext) = sealed.split_at_checked(ENCAPSULATED)?;
        hpke::single_shot_open::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
            &OpModeR::Base,
            &self.hpke().ok()?,
            &Encapsulated::from_bytes(encapsulated).ok()?,
            info,
            ciphertext,
            bound,
        )
        .ok()
    }

    /// Begins a sequence of messages to the other server, which learns that they are from this one. Returns
    /// the encapsulated key too.
    pub(crate) fn sealer(&self, other: &PublicKey, info: &[u8]) -> Option<(Vec<u8>, Sealer)> {
        let mode = OpModeS::Auth((self.hpke().ok()?, self.public().hpke().ok()?));
        let (encapsulated, sealer): (Encapsulated, Sealer) =
            hpke::setup_sender(&mode, &other.hpke().ok()?, info).ok()?;
        Some((encapsulated.to_bytes().to_vec(), sealer))
    }

    /// Opens the sequence of messages of the other server.
    pub(crate) fn opener(&self, other: &PublicKey, encapsulated: &[u8], info: &[u8]) -> Option<Opener> {
        let encapsulated = Encapsulated::from_bytes(encapsulated).ok()?;
        hpke::setup_receiver(&OpModeR::Auth(other.hpke().ok()?), &self.hpke().ok()?, &encapsulated, info).ok()
    }

    /// Key with which both servers check proofs. It follows from their keys by a Diffie–Hellman agreement,
    /// so it is fixed before the first report, and no device knows it. `None` for a public key of low order.
    pub(crate) fn verify_key(&self, other: &PublicKey, context: &[u8]) -> Option<[u8; 32]> {
        let agreed = self.agreement().diffie_hellman(&x25519_dalek::PublicKey::from(other.0));
        agreed.was_contributory().then(|| digest([b"scumble verify key", &agreed.to_bytes()[..], context]))
    }

    /// Key of the noise that this server adds, as `role`, to the reports and sums with the digest `content`.
    /// The noise of the same sums is always the same, so that repeating a step discloses nothing more.
    pub(crate) fn noise_key(&self, role: Role, context: &[u8], content: &str) -> [u8; 32] {
        let role = role.letter();
        digest([&self.noise[..], b"scumble noise", role.as_bytes(), context, content.as_bytes()])
    }
}

/// SHA-256 of `parts`, each after its length.
pub(crate) fn digest<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn write<const N: usize>(format: &str, fields: [(&str, &[u8; 32]); N]) -> Result<String> {
    let body = fields.map(|(name, bytes)| (name.to_owned(), hexadecimal(bytes).into()));
    sealed::seal(format, body.into_iter().collect())
        .map_err(|problem| Error::file("the key", problem.to_string()))
}

fn read<const N: usize>(
    text: &str,
    format: &str,
    names: [&str; N],
) -> std::result::Result<[[u8; 32]; N], String> {
    let sealed = sealed::open(text, format)?;
    sealed.check_untouched()?;
    let mut keys = [[0; 32]; N];
    for (name, key) in names.into_iter().zip(&mut keys) {
        let text: String = sealed.field(name)?;
        *key = bytes(&text).ok_or_else(|| format!("its {name} key is not 64 hexadecimal digits"))?;
    }
    Ok(keys)
}

/// The bytes that 64 hexadecimal digits stand for.
fn bytes(text: &str) -> Option<[u8; 32]> {
    let digit = |at: usize| char::from(*text.as_bytes().get(at)?).to_digit(16);
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::try_from(16 * digit(2 * at)? + digit(2 * at + 1)?).ok()?;
    }
    (text.len() == 64).then_some(bytes)
}
