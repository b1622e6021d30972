//! Files that appear complete or not at all: written to a temporary file, then renamed.

use crate::{Error, Result};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Treatment of an existing file at the path of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Keeps the existing file and refuses the new file.
    Keep,
    /// Replaces the existing file.
    Replace,
}

/// Read permission of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readable {
    /// Default permissions of the system.
    AsUsual,
    /// Readable by the owner only.
    ByOwner,
}

/// A file that appears under its name at [`commit`](Self::commit), with all its content. Before the commit,
/// the content is in a temporary file in the same folder, which is removed when this value is dropped.
///
/// ```
/// use scumble_custody::{Existing, NewFile, Readable};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("released.csv");
/// let file = NewFile::create(&path, Existing::Keep, Readable::AsUsual)?;
/// assert!(!path.exists());
/// file.finish(b"size\n")?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "size\n");
/// # Ok::<(), scumble_custody::Error>(())
/// ```
#[derive(Debug)]
pub struct NewFile {
    aside: NamedTempFile,
    /// Path as given, for errors.
    path: PathBuf,
    /// Final path, with links resolved.
    place: PathBuf,
    existing: Existing,
}

impl NewFile {
    /// Reason of [`Error::Exists`] for a file that must be kept.
    pub const KEPT: &str = "already exists, and is not overwritten";

    /// Begins the file at `path`.
    ///
    /// # Errors
    /// [`Error::Exists`] if the path holds a file that must be kept, or something other than a plain file,
    /// and for the path `-`, which stands for standard output; [`Error::Io`] if the folder does not exist or
    /// is not writable.
    pub fn create(path: &Path, existing: Existing, readable: Readable) -> Result<Self> {
        let failed = |source| Error::Io { file: path.into(), source };
        if path == Path::new("-") {
            return Err(Error::Exists {
                file: path.into(),
                what: "stands for standard output, which this option does not write to; name a file",
            });
        }
        let before = fs::metadata(path).ok();
        if before.as_ref().is_some_and(|found| !found.is_file()) {
            return Err(Error::Exists {
                file: path.into(),
                what: "is not a plain file, and is not overwritten",
            });
        }
        if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(failed(io::ErrorKind::InvalidFilename.into()));
        }
        match fs::symlink_metadata(path) {
            // A broken link counts as an existing file.
            Ok(_) if existing == Existing::Keep => {
                return Err(Error::Exists { file: path.into(), what: Self::KEPT });
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)), // a long name
            _ => {}
        }
        let place = path.canonicalize().unwrap_or_else(|_| path.into());
        fs::metadata(folder_of(&place)).map_err(failed)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".scumble-");
        #[cfg(unix)]
        if readable == Readable::AsUsual {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666)); // reduced by the umask
        }
        #[cfg(not(unix))]
        let _ = readable;
        let aside = builder.tempfile_in(folder_of(&place)).map_err(|error| failed(plain(error)))?;
        if let Some(before) = before {
            let kept = permissions(&before, readable); // keep narrowed permissions
            aside.as_file().set_permissions(kept).map_err(failed)?;
        }
        Ok(Self { aside, path: path.into(), place, existing })
    }

    /// Writes `bytes` and commits.
    ///
    /// # Errors
    /// Same errors as [`commit`](Self::commit).
    pub fn finish(mut self, bytes: &[u8]) -> Result<()> {
        let path = self.path.clone();
        self.write_all(bytes).map_err(|source| Error::Io { file: path, source })?;
        self.commit()
    }

    /// Moves the file to its final path and syncs it to disk.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails; [`Error::Exists`] if a file that must be kept has appeared at the
    /// path.
    pub fn commit(self) -> Result<()> {
        let Self { aside, path, place, existing } = self;
        let failed = |source| Error::Io { file: path.clone(), source };
        aside.as_file().sync_all().map_err(failed)?;
        let renamed = match existing {
            Existing::Replace => aside.persist(&place),
            Existing::Keep => aside.persist_noclobber(&place),
        };
        renamed.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { file: path.clone(), what: Self::KEPT },
            _ => failed(error.error),
        })?;
        sync_folder(&place).map_err(failed)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.aside.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.aside.as_file_mut().flush()
    }
}

/// Permissions of a file that replaces `before`. The file keeps the permissions of the file it replaces. With
/// [`Readable::ByOwner`], group and others get no permissions.
fn permissions(before: &fs::Metadata, readable: Readable) -> fs::Permissions {
    #[cfg(unix)]
    if readable == Readable::ByOwner {
        use std::os::unix::fs::PermissionsExt;
        return fs::Permissions::from_mode(before.permissions().mode() & !0o077);
    }
    let _ = readable;
    before.permissions()
}

/// Checks that the file of a secret is closed to other users of the machine. On Unix, its mode must grant
/// nothing to group and others.
///
/// A path that is not a plain file passes, because no mode guards it. An example is a pipe, such as the
/// shell's `<(…)`.
///
/// # Errors
/// [`Error::Readable`] for a file that is open to others; [`Error::Io`] for a missing file.
pub fn check_private(path: &Path) -> Result<()> {
    let found = fs::metadata(path).map_err(|source| Error::Io { file: path.into(), source })?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = found.permissions().mode() & 0o777;
        if found.is_file() && mode & 0o077 != 0 {
            return Err(Error::Readable { file: path.into(), mode });
        }
    }
    let _ = found;
    Ok(())
}

/// Folder that contains `path`.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Returns whether two files are, or would be, in the same folder.
///
/// # Errors
/// [`Error::Io`] for a missing folder.
pub fn is_in_same_folder(one: &Path, other: &Path) -> Result<bool> {
    let folder = |path: &Path| {
        // A link counts as in the folder of its target.
        let path = path.canonicalize().unwrap_or_else(|_| path.into());
        folder_of(&path).canonicalize().map_err(|source| Error::Io { file: path.clone(), source })
    };
    Ok(folder(one)? == folder(other)?)
}

/// Returns whether two paths name the same file, existing or not, after links are resolved.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        path.canonicalize()
            .ok()
            .or_else(|| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?)))
    };
    one == other || (place(one).is_some() && place(one) == place(other))
}

/// Syncs the folder of `path`, so that the file's name is on disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        return fs::File::open(folder_of(path))?.sync_all();
    }
    Ok(())
}

/// Removes the name of the temporary file from an error.
fn plain(error: io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| io::Error::from(error.kind()), io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, existing: Existing) -> Result<()> {
        NewFile::create(path, existing, Readable::AsUsual)?.finish(b"new")
    }

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn what_is_not_committed_was_never_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut file = NewFile::create(&path, Existing::Keep, Readable::AsUsual).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(files(folder.path()), 0);
    }

    #[test]
    fn a_file_that_is_there_stays_unless_it_may_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        assert!(matches!(write(&path, Existing::Keep), Err(Error::Exists { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        write(&path, Existing::Replace).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(files(folder.path()), 1);
    }

    #[test]
    fn a_file_that_came_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let file = NewFile::create(&path, Existing::Keep, Readable::AsUsual).unwrap();
        fs::write(&path, "other").unwrap();
        assert!(matches!(file.commit(), Err(Error::Exists { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "other");
        assert_eq!(files(folder.path()), 1);
    }

    #[test]
    fn a_folder_is_no_place_for_a_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(write(folder.path(), Existing::Replace), Err(Error::Exists { .. })));
        for name in ["sub/", &"x".repeat(300)] {
            assert!(NewFile::create(&folder.path().join(name), Existing::Keep, Readable::AsUsual).is_err());
        }
        let nowhere = write(&folder.path().join("no/such/a"), Existing::Keep).unwrap_err().to_string();
        assert!(nowhere.contains("no/such/a: No such file") && !nowhere.contains(".scumble"), "{nowhere}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_leads_to_the_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, Existing::Replace).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_stays_too() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("none"), &link).unwrap();
        assert!(matches!(write(&link, Existing::Keep), Err(Error::Exists { .. })));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_keeps_its_readers() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write(&path, Existing::Replace).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_for_its_owner_is_for_nobody_else() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        NewFile::create(&path, Existing::Keep, Readable::ByOwner).unwrap().commit().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_that_is_open_to_others_is_refused_and_narrowed_where_it_is_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        NewFile::create(&path, Existing::Keep, Readable::ByOwner).unwrap().commit().unwrap();
        check_private(&path).unwrap();
        for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refused = check_private(&path).unwrap_err().to_string();
            assert!(
                refused.contains(&format!("mode {mode:03o}")) && refused.contains("chmod 600"),
                "{refused}"
            );
        }
        NewFile::create(&path, Existing::Replace, Readable::ByOwner).unwrap().commit().unwrap();
        check_private(&path).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        check_private(&link).unwrap();
        assert!(matches!(check_private(&folder.path().join("none")), Err(Error::Io { .. })));
    }

    #[test]
    fn a_file_is_the_same_by_any_way_to_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let [a, b, other] = ["a", "sub/../a", "sub/a"].map(|name| folder.path().join(name));
        assert!(is_same_file(&a, &b) && !is_same_file(&a, &other));
        fs::write(&a, "").unwrap();
        assert!(is_same_file(&a, &b) && !is_same_file(&a, &other));
    }

    #[test]
    fn beside_is_a_matter_of_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let [a, b, far] = ["a", "sub/../b", "sub/a"].map(|name| folder.path().join(name));
        assert!(is_in_same_folder(&a, &b).unwrap());
        assert!(!is_in_same_folder(&a, &far).unwrap());
        assert!(is_in_same_folder(&a, &folder.path().join("none/a")).is_err());
    }
}
