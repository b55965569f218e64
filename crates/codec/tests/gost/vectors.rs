//! Tests every kernel with the examples that the standards print.

use fullbore_codec::Tier;
use fullbore_codec::gost::modes::{
    CbcDecryption, CbcEncryption, CfbDecryption, CfbEncryption, Ctr, CtrAcpkm, Mgm, Ofb, Omac,
};
use fullbore_codec::gost::{BlockCipher, Key, Kuznyechik, Magma, ModeError, kdf};

use crate::given::{self, hex, hex_key};
use crate::tiers;

/// The plaintext of GOST R 34.13-2015, A.1.
const KUZNYECHIK_PLAIN: &str = "1122334455667700ffeeddccbbaa9988 00112233445566778899aabbcceeff0a
    112233445566778899aabbcceeff0a00 2233445566778899aabbcceeff0a0011";
/// The vector of A.1.3 to A.1.5.
const KUZNYECHIK_IV: &str = "1234567890abcef0a1b2c3d4e5f00112 23344556677889901213141516171819";
/// The plaintext of A.2.
const MAGMA_PLAIN: &str = "92def06b3c130a59 db54c704f8189d20 4a98fb2e67a8024c 8912409b17b57e41";

/// A mode in use.
type Apply = Box<dyn FnMut(&mut [u8])>;

/// Checks an example in both directions, in one piece and in pieces.
fn check(name: &str, plain: &str, wanted: &str, unit: usize, make: [&dyn Fn() -> Apply; 2]) {
    let (plain, wanted) = (hex(plain), hex(wanted));
    for (make, from, to) in [(make[0], &plain, &wanted), (make[1], &wanted, &plain)] {
        for piece in [plain.len(), unit, 3 * unit] {
            let (mut data, mut apply) = (from.clone(), make());
            data.chunks_mut(piece).for_each(&mut apply);
            assert_eq!(&data, to, "{name} in pieces of {piece}");
        }
    }
}

/// Makes a closure that owns its mode.
macro_rules! mode {
    ($mode:expr) => {
        &|| {
            let mut mode = $mode.unwrap();
            Box::new(move |data: &mut [u8]| mode.apply(data)) as Apply
        }
    };
}

struct Examples {
    key: Key,
    plain: &'static str,
    ctr: (&'static str, &'static str),
    ofb: (&'static str, &'static str),
    cbc: (&'static str, &'static str),
    cfb: (&'static str, &'static str),
}

fn modes_give<C: BlockCipher + 'static>(examples: &Examples) {
    for tier in tiers::tested() {
        let cipher = C::new(&examples.key, tier);
        let (c, bytes) = (&cipher, C::BLOCK_BYTES);
        let (iv, wanted) = (hex(examples.ctr.0), examples.ctr.1);
        let both = mode!(Ctr::new(c.clone(), &iv));
        check(&format!("ctr {tier}"), examples.plain, wanted, 1, [both, both]);
        let (iv, wanted) = (hex(examples.ofb.0), examples.ofb.1);
        let both = mode!(Ofb::new(c.clone(), &iv));
        check(&format!("ofb {tier}"), examples.plain, wanted, 1, [both, both]);
        let (iv, wanted) = (hex(examples.cbc.0), examples.cbc.1);
        let encryption = mode!(CbcEncryption::new(c.clone(), &iv));
        let decryption = mode!(CbcDecryption::new(c.clone(), &iv));
        check(&format!("cbc {tier}"), examples.plain, wanted, bytes, [encryption, decryption]);
        let (iv, wanted) = (hex(examples.cfb.0), examples.cfb.1);
        let encryption = mode!(CfbEncryption::new(c.clone(), &iv));
        let decryption = mode!(CfbDecryption::new(c.clone(), &iv));
        check(&format!("cfb {tier}"), examples.plain, wanted, 1, [encryption, decryption]);
    }
}

#[test]
fn modes_of_kuznyechik_give_the_examples_of_gost_r_34_13() {
    // A.1.2 to A.1.5
    modes_give::<Kuznyechik>(&Examples {
        key: given::standard_kuznyechik_key(),
        plain: KUZNYECHIK_PLAIN,
        ctr: (
            "1234567890abcef0",
            "f195d8bec10ed1dbd57b5fa240bda1b8 85eee733f6a13e5df33ce4b33c45dee4
             a5eae88be6356ed3d5e877f13564a3a5 cb91fab1f20cbab6d1c6d15820bdba73",
        ),
        ofb: (
            KUZNYECHIK_IV,
            "81800a59b1842b24ff1f795e897abd95 ed5b47a7048cfab48fb521369d9326bf
             66a257ac3ca0b8b1c80fe7fc10288a13 203ebbc066138660a0292243f6903150",
        ),
        cbc: (
            KUZNYECHIK_IV,
            "689972d4a085fa4d90e52e3d6d7dcc27 2826e661b478eca6af1e8e448d5ea5ac
             fe7babf1e91999e85640e8b0f49d90d0 167688065a895c631a2d9a1560b63970",
        ),
        cfb: (
            KUZNYECHIK_IV,
            "81800a59b1842b24ff1f795e897abd95 ed5b47a7048cfab48fb521369d9326bf
             79f2a8eb5cc68d38842d264e97a238b5 4ffebecd4e922de6c75bd9dd44fbf4d1",
        ),
    });
}

#[test]
fn modes_of_magma_give_the_examples_of_gost_r_34_13() {
    // A.2.2 to A.2.5
    modes_give::<Magma>(&Examples {
        key: given::standard_magma_key(),
        plain: MAGMA_PLAIN,
        ctr: ("12345678", "4e98110c97b7b93c 3e250d93d6e85d69 136d868807b2dbef 568eb680ab52a12d"),
        ofb: (
            "1234567890abcdef234567890abcdef1",
            "db37e0e266903c83 0d46644c1f9a089c a0f83062430e327e c824efb8bd4fdb05",
        ),
        cbc: (
            "1234567890abcdef234567890abcdef134567890abcdef12",
            "96d1b05eea683919 aff76129abb937b9 5058b4a1c4bc0019 20b78b1a7cd7e667",
        ),
        cfb: (
            "1234567890abcdef234567890abcdef1",
            "db37e0e266903c83 0d46644c1f9a089c 24bdd2035315d38b bcc0321421075505",
        ),
    });
}

#[test]
fn ecb_gives_the_examples_of_gost_r_34_13() {
    // A.1.1 and A.2.1
    for tier in tiers::tested() {
        let mut data = hex(KUZNYECHIK_PLAIN);
        Kuznyechik::new(&given::standard_kuznyechik_key(), tier).encrypt_blocks(&mut data);
        let wanted = "7f679d90bebc24305a468d42b9d4edcd b429912c6e0032f9285452d76718d08b
                      f0ca33549d247ceef3f5a5313bd4b157 d0b09ccde830b9eb3a02c4c5aa8ada98";
        assert_eq!(data, hex(wanted), "{tier}");
        let mut data = hex(MAGMA_PLAIN);
        Magma::new(&given::standard_magma_key(), tier).encrypt_blocks(&mut data);
        let wanted = "2b073f0494f372a0 de70e715d3556e48 11d8d9e9eacfbc1e 7c68260996c67efb";
        assert_eq!(data, hex(wanted), "{tier}");
    }
}

fn omac<C: BlockCipher>(key: &Key, tier: Tier, message: &[u8], piece: usize) -> Vec<u8> {
    let mut omac = Omac::new(C::new(key, tier));
    message.chunks(piece.max(1)).for_each(|piece| omac.update(piece));
    omac.finish()
}

#[test]
fn omac_gives_the_examples_of_gost_r_34_13() {
    // A.1.6 and A.2.6, of which the standard takes the first half as the code
    for tier in tiers::tested() {
        for piece in [1, 7, 16, 64] {
            let key = given::standard_kuznyechik_key();
            let code = omac::<Kuznyechik>(&key, tier, &hex(KUZNYECHIK_PLAIN), piece);
            assert_eq!(code, hex("336f4d296059fbe34ddeb35b37749c67"), "{tier}");
            let code = omac::<Magma>(&given::standard_magma_key(), tier, &hex(MAGMA_PLAIN), piece);
            assert_eq!(code, hex("154e72102030c5bb"), "{tier}");
        }
    }
}

#[test]
fn acpkm_gives_the_examples_of_r_1323565_1_017() {
    // A.1 with sections of 128 bits, A.2 with 256, and A.4.2, whose key stream is made with sections of 768
    let key = given::standard_kuznyechik_key();
    for tier in tiers::tested() {
        let both = mode!(CtrAcpkm::<Magma>::new(&key, tier, &hex("12345678"), 16));
        check(
            &format!("magma {tier}"),
            "1122334455667700ffeeddccbbaa9988 00112233445566778899aabbcceeff0a
             112233445566778899aabbcceeff0a00 2233445566778899",
            "2ab81deeeb1e4cab68e104c4bd6b94ea c72c67af6c2e5b6b0eafb61770f1b32e
             a1ae71149eed1382abd467180672ec6f 84a2f15b3fca72c1",
            1,
            [both, both],
        );
        let both = mode!(CtrAcpkm::<Kuznyechik>::new(&key, tier, &hex("1234567890abcef0"), 32));
        check(
            &format!("kuznyechik {tier}"),
            &format!(
                "{KUZNYECHIK_PLAIN} 33445566778899aabbcceeff0a001122
                 445566778899aabbcceeff0a00112233 5566778899aabbcceeff0a0011223344"
            ),
            "f195d8bec10ed1dbd57b5fa240bda1b8 85eee733f6a13e5df33ce4b33c45dee4
             4bceeb8f646f4c55001706275e85e800 587c4df568d094393e4834afd0805046
             cf30f57686aeece11cfc6c316b8a896e dffd07ec813636460c4f3b743423163e
             6409a9c282fac8d469d221e7fbd6de5d",
            1,
            [both, both],
        );
        let both = mode!(CtrAcpkm::<Kuznyechik>::new(&key, tier, &hex("ffffffffffffffff"), 96));
        check(
            &format!("master {tier}"),
            &"00".repeat(144),
            "0cabf1f2efbc4ac16048df1a24c605b2 c0d1673d7586a8ec0dd42c45a4f95bae
             0f2e2617e47148680fc3e6178df2c137 c9dda89cffa491feadd9b3eab703bb31
             bc7e927f0494729f51b49d3df9c94608 00fbbcf5edee610ea02f01093c7bc742
             d7d6271501b177775263c2a3495a8318 a81c79a04f29660ea3fda874c630799e
             142c577914fea90d3bc2502e833685d9",
            1,
            [both, both],
        );
    }
}

struct Sealed {
    key: Key,
    nonce: &'static str,
    associated: &'static str,
    plain: &'static str,
    cipher: &'static str,
    tag: &'static str,
}

fn mgm_gives<C: BlockCipher>(example: &Sealed) {
    let (nonce, associated) = (hex(example.nonce), hex(example.associated));
    for tier in tiers::tested() {
        let mgm = Mgm::<C>::new(&example.key, tier);
        let (mut data, mut tag) = (hex(example.plain), vec![0; C::BLOCK_BYTES]);
        mgm.seal(&nonce, &associated, &mut data, &mut tag).unwrap();
        assert_eq!((&data, &tag), (&hex(example.cipher), &hex(example.tag)), "{tier}");
        mgm.open(&nonce, &associated, &mut data, &tag).unwrap();
        assert_eq!(data, hex(example.plain), "{tier}");

        tag[0] ^= 1;
        let mut data = hex(example.cipher);
        let refused = mgm.open(&nonce, &associated, &mut data, &tag);
        assert_eq!(refused, Err(ModeError::Authentication), "{tier}");
        assert_eq!(data, hex(example.cipher), "{tier}: released before it was authenticated");
        mgm_gives_it_elsewhere(&mgm, example);
    }
}

fn mgm_gives_it_elsewhere<C: BlockCipher>(mgm: &Mgm<C>, example: &Sealed) {
    let (nonce, associated) = (hex(example.nonce), hex(example.associated));
    let (plain, cipher) = (hex(example.plain), hex(example.cipher));
    let (mut other, mut tag) = (vec![0xee; plain.len()], vec![0; C::BLOCK_BYTES]);
    mgm.seal_to(&nonce, &associated, &plain, &mut other, &mut tag).unwrap();
    assert_eq!((&other, &tag), (&cipher, &hex(example.tag)));
    other.fill(0xee);
    mgm.open_to(&nonce, &associated, &cipher, &mut other, &tag).unwrap();
    assert_eq!(other, plain);
    tag[1] ^= 1;
    other.fill(0xee);
    let refused = mgm.open_to(&nonce, &associated, &cipher, &mut other, &tag);
    assert_eq!(refused, Err(ModeError::Authentication));
    assert!(other.iter().all(|byte| *byte == 0xee), "released before it was authenticated");
}

#[test]
fn mgm_gives_the_examples_of_rfc_9058_for_kuznyechik() {
    // A.1.1 and A.1.2
    mgm_gives::<Kuznyechik>(&Sealed {
        key: given::standard_kuznyechik_key(),
        nonce: "1122334455667700ffeeddccbbaa9988",
        associated: "02020202020202020101010101010101 04040404040404040303030303030303
                     ea0505050505050505",
        plain: "1122334455667700ffeeddccbbaa9988 00112233445566778899aabbcceeff0a
                112233445566778899aabbcceeff0a00 2233445566778899aabbcceeff0a0011 aabbcc",
        cipher: "a9757b8147956e9055b8a33de89f42fc 8075d2212bf9fd5bd3f7069aadc16b39
                 497ab15915a6ba85936b5d0ea9f6851c c60c14d4d3f883d0ab94420695c76deb 2c7552",
        tag: "cf5d656f40c34f5c46e8bb0e29fcdb4c",
    });
    mgm_gives::<Kuznyechik>(&Sealed {
        key: hex_key("99aabbccddeeff00 11223344556677fe dcba987654321001 23456789abcdef88"),
        nonce: "1122334455667700ffeeddccbbaa9988",
        associated: "01010101010101010101010101010101",
        plain: "",
        cipher: "",
        tag: "7901e9ea2085cd247ed249695f9f8a85",
    });
}

#[test]
fn mgm_gives_the_examples_of_rfc_9058_for_magma() {
    // A.2.1 and A.2.2
    mgm_gives::<Magma>(&Sealed {
        key: given::standard_magma_key(),
        nonce: "12def06b3c130a59",
        associated: "01010101010101010202020202020202 03030303030303030404040404040404
                     0505050505050505ea",
        plain: "ffeeddccbbaa99881122334455667700 8899aabbcceeff0a0011223344556677
                99aabbcceeff0a001122334455667788 aabbcceeff0a00112233445566778899 aabbcc",
        cipher: "c795066c5f9ea03b85113342459185ae 1f2e00d6bf2b785d940470b8bb9c8e7d
                 9a5dd3731f7ddc70ec27cb0ace6fa576 70f65c646abb75d547aa37c3bcb5c34e 03bb9c",
        tag: "a7928069aa10fd10",
    });
    mgm_gives::<Magma>(&Sealed {
        key: hex_key("99aabbccddeeff00 11223344556677fe dcba987654321001 23456789abcdef88"),
        nonce: "0077665544332211",
        associated: "",
        plain: "22334455667700ff",
        cipher: "6a95e1426b259d4e",
        tag: "334ee270450bec9e",
    });
}

#[test]
fn mgm_refuses_what_rfc_9058_excludes() {
    let mgm = Mgm::<Kuznyechik>::new(&given::key(1), Tier::Portable);
    let mut tag = [0; 16];
    let mut seal = |nonce: &[u8], data: &mut [u8]| mgm.seal(nonce, &[], data, &mut tag);
    assert_eq!(seal(&[0; 16], &mut []), Err(ModeError::MessageLength));
    assert_eq!(seal(&[0x80; 16], &mut [1]), Err(ModeError::NonceBit));
    assert!(matches!(seal(&[0; 8], &mut [1]), Err(ModeError::IvLength { bytes: 8, .. })));
    assert_eq!(seal(&[0; 16], &mut [1]), Ok(()));
}

#[test]
fn a_derived_key_is_that_of_r_50_1_113() {
    // RFC 7836, appendix B, example 9
    let key = hex_key("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    let derived = kdf::derive(&key, &hex("26bdb878"), &hex("af21434145656378"));
    let wanted = "a1aa5f7de402d7b3d323f2991c8d4534 013137010a83754fd0af6d7cd4922ed9";
    assert_eq!(derived.bytes().as_slice(), hex(wanted));
}
