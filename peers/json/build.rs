//! Builds simdjson and what calls it, for the CPU that PEERS_CPU names.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=PEERS_CPU");
    println!("cargo:rerun-if-env-changed=PEERS_SIMDJSON");
    println!("cargo:rerun-if-changed=src/simdjson.cpp");
    let cpu = std::env::var("PEERS_CPU").unwrap_or_else(|_| "native".to_owned());
    let folder = std::env::var_os("PEERS_SIMDJSON").map(PathBuf::from);
    let folder =
        folder.expect("PEERS_SIMDJSON: the folder of simdjson's sources; see scripts/json-peers");
    // The two files of a release, or its whole tree.
    let is_tree = folder.join("include").is_dir();
    let (sources, headers) = if is_tree {
        (folder.join("src"), folder.join("include"))
    } else {
        (folder.clone(), folder)
    };
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(3)
        .warnings(false)
        .flag(format!("-march={cpu}"))
        .include(headers)
        .include(&sources)
        .file(sources.join("simdjson.cpp"))
        .file("src/simdjson.cpp")
        .compile("peer");
}
