//! Files of two servers: keys, reports, messages, shares and lists of counted reports.

use crate::{accepted, forge};
use scumble_core::{Brief, Budget, Domain, RecordDomain, TargetDomain};
use scumble_custody::ShippedDesign;
use scumble_marginals::TWO_SERVER_MARGINALS;
use scumble_servers::{
    AggregateShare, Counted, PublicKey, Role, Server, ServerKey, Sink, Source, Task, unshard,
};
use serde_json::json;
use std::sync::LazyLock;

const FORMATS: [&str; 4] = [
    "scumble-server-key-1",
    "scumble-server-public-key-1",
    "scumble-aggregate-share-1",
    "scumble-counted-reports-1",
];

/// Two columns in two bins each, counted together.
static DESIGN: LazyLock<ShippedDesign> = LazyLock::new(|| {
    let domain = RecordDomain::new(vec!["x".into(), "y".into()], Domain::unit_box(2), TargetDomain::None);
    let budget = Budget::new(1.0, 1e-5).expect("a budget");
    let brief = Brief::new(domain.expect("two columns"), budget);
    let parameters = json!({"bins": 2, "marginals": [["x", "y"], ["x"]]});
    TWO_SERVER_MARGINALS.design(&parameters, &brief).expect("it applies to these columns").into()
});

/// Keys of server a and server b, and everything that both wrote about three reports.
const KEYS: [&str; 2] =
    [include_str!("../corpus/servers/valid-a.key.json"), include_str!("../corpus/servers/valid-b.key.json")];
const REPORTS: [&str; 2] =
    [include_str!("../corpus/servers/valid-to-a"), include_str!("../corpus/servers/valid-to-b")];
const FROM_A: &str = include_str!("../corpus/servers/valid-from-a");
const SHARE_A: &str = include_str!("../corpus/servers/valid-a.share.json");

/// Reads the bytes as each file in turn. From accepted reports and messages, shares are made; accepted shares
/// and lists are unchanged when they are saved and read again.
pub fn servers(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let resealed = FORMATS.iter().filter_map(|format| forge::resealed(&text, format));
    let files: Vec<String> = std::iter::once(text.clone().into_owned()).chain(resealed).collect();
    let task = Task::new(&DESIGN).expect("a design for two servers");
    let keys = KEYS.map(|key| ServerKey::from_json(key, "a key").expect("a key"));
    let public = [keys[0].public(), keys[1].public()];
    let mut is_accepted = false;
    for file in &files {
        if let Some(key) = accepted(ServerKey::from_json(file, "a key")) {
            let saved = key.to_json().expect("a key can be written");
            assert_eq!(ServerKey::from_json(&saved, "a key").expect("it can be read").public(), key.public());
            is_accepted = true;
        }
        if let Some(key) = accepted(PublicKey::from_json(file, "a key")) {
            accepted(Server::new(&task, Role::A, &keys[0], &key));
            is_accepted = true;
        }
        if let Some(share) = accepted(AggregateShare::from_json(file, "a share")) {
            let saved = share.to_json().expect("a share can be written");
            assert_eq!(AggregateShare::from_json(&saved, "a share").expect("it can be read"), share);
            let other = AggregateShare::from_json(SHARE_A, "a share").expect("a share");
            accepted(unshard(&task, [&other, &share]));
            is_accepted = true;
        }
        if let Some(counted) = accepted(Counted::from_json(file, "a list")) {
            let saved = counted.to_json().expect("a list can be written");
            assert_eq!(Counted::from_json(&saved, "a list").expect("it can be read"), counted);
            is_accepted = true;
        }
    }
    let a = Server::new(&task, Role::A, &keys[0], &public[1]).expect("two keys");
    let b = Server::new(&task, Role::B, &keys[1], &public[0]).expect("two keys");
    let mut written = vec![];
    let begun = a.begin(of(&mut &*data), Sink { writer: &mut written, file: "a message" });
    is_accepted |= accepted(begun).is_some_and(|tally| tally.accepted > 0);
    for (reports, received) in [(data, FROM_A.as_bytes()), (REPORTS[1].as_bytes(), data)] {
        let sink = Sink { writer: &mut written, file: "a message" };
        let (mut reports, mut received) = (reports, received);
        let answered = b.answer(of(&mut reports), of(&mut received), sink, &mut Counted::default());
        is_accepted |= accepted(answered).is_some();
    }
    let (mut reports, mut received) = (REPORTS[0].as_bytes(), data);
    let finished = a.finish(of(&mut reports), of(&mut received), &mut Counted::default());
    is_accepted | accepted(finished).is_some()
}

fn of<'r>(reader: &'r mut &[u8]) -> Source<'r> {
    Source { reader, file: "a file" }
}
