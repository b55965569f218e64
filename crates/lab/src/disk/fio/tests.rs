//! Outputs of fio as they come: JSON and JSON+, of several jobs and hosts, with warnings before, lines of status within, cut off.

use super::*;

/// A job without group_reporting, shortened from an output of fio 3.33.
fn job(name: &str, iops: f64) -> String {
    format!(
        r#"    {{ "jobname" : "{name}", "groupid" : 0, "error" : 0, "job options" : {{ "rw" : "randread", "iodepth" : "8" }},
      "read" : {{ "io_bytes" : 4096000, "io_kbytes" : 4000, "bw_bytes" : 238587909, "bw" : 232996, "iops" : {iops},
        "runtime" : 3004, "total_ios" : 1000, "iops_mean" : {iops}, "iops_stddev" : 12.5, "iops_samples" : 6,
        "slat_ns" : {{ "min" : 1, "max" : 2, "mean" : 1.5, "stddev" : 0.1, "N" : 1000 }},
        "clat_ns" : {{ "min" : 41852, "max" : 4801699, "mean" : 268040.439324, "stddev" : 142380.0, "N" : 1000,
          "percentile" : {{ "50.000000" : 264192, "99.000000" : 415744, "99.900000" : 3162112 }},
          "bins" : {{ "41728" : 1, "264192" : 979, "415744" : 15, "3162112" : 5 }} }},
        "lat_ns" : {{ "min" : 1, "max" : 5, "mean" : 2.0, "stddev" : 0.1, "N" : 1000 }} }},
      "write" : {{ "io_bytes" : 0, "total_ios" : 0, "iops" : 0.000000,
        "clat_ns" : {{ "min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0 }} }},
      "usr_cpu" : 4.5, "sys_cpu" : 20.25
    }}"#
    )
}

fn whole(jobs: &[String]) -> String {
    format!(
        "{{\n  \"fio version\" : \"fio-3.33\",\n  \"timestamp\" : 1795638424,\n  \"timestamp_ms\" : 1795638424598,\n  \
         \"global options\" : {{ \"bs\" : \"4k\", \"iodepth\" : \"1\" }},\n  \"jobs\" : [\n{}\n  ],\n  \"disk_util\" : [ ]\n}}\n",
        jobs.join(",\n")
    )
}

#[test]
fn every_number_is_that_of_fio_to_the_last_digit() {
    let output = read(&whole(&[job("a", 58244.340879)])).unwrap();
    assert_eq!((output.version.as_str(), output.unix_ms), ("fio-3.33", Some(1_795_638_424_598)));
    let job = &output.jobs[0];
    // The job's own depth takes the place of the global one.
    assert_eq!((job.options.get("iodepth"), job.options.get("bs")), (Some("8"), Some("4k")));
    let [read] = job.directions.as_slice() else { panic!("{job:?}") };
    assert_eq!(
        (read.name.as_str(), read.iops, read.bytes_per_s),
        ("read", 58244.340879, 238_587_909.0)
    );
    assert_eq!((read.requests, read.bytes, read.runtime_ms), (1000, 4_096_000, 3004));
    assert_eq!(read.iops_samples, Some((12.5, 6)));
    let latency = &read.latency;
    assert_eq!(
        (latency.of.as_str(), latency.max_ns, latency.mean_ns),
        ("clat", 4_801_699, 268040.439324)
    );
    assert_eq!(latency.percentiles, [(50.0, 264_192), (99.0, 415_744), (99.9, 3_162_112)]);
    for (percent, ns) in &latency.percentiles {
        assert_eq!(latency.bins.percentile(*percent), Some(*ns), "p{percent}");
    }
}

#[test]
fn what_stands_before_the_json_is_no_part_of_it() {
    let noise = "fio: set debug option {x}\nnote: both iodepth >= 1 and synchronous I/O engine are selected\r\n";
    assert_eq!(read(&format!("{noise}{}", whole(&[job("a", 1.5)]))).unwrap().jobs.len(), 1);
    let marked = format!("\u{feff}{}", whole(&[job("a", 1.5)]));
    assert_eq!(read(&marked).unwrap().jobs.len(), 1);
}

#[test]
fn lines_of_status_within_the_json_are_left_out() {
    let clean = whole(&[job("a", 1.5), job("b", 2.5)]);
    for status in [
        "Jobs: 8 (f=8): [r(8)][50.0%][r=932MiB/s][r=239k IOPS][eta 00m:02s]\n",
        "Jobs: 1 (f=1): [W(1)][10.3%][eta 01m:44s]\rJobs: 1 (f=1): [W(1)][11.1%][eta 01m:43s]\r",
        "fio: file system full\n",
        "hostname=a, be=0, 64-bit, os=Linux\n",
    ] {
        let middle = clean.find("    { \"jobname\" : \"b\"").unwrap();
        let dirty = format!("{}{status}{}", &clean[..middle], &clean[middle..]);
        let output = read(&dirty).unwrap_or_else(|error| panic!("{status}: {error}"));
        assert_eq!(output.jobs, read(&clean).unwrap().jobs, "{status}");
        assert!(output.remarks[0].contains("not JSON"), "{:?}", output.remarks);
    }
}

#[test]
fn of_several_documents_the_last_whole_one_counts() {
    let (first, second) = (whole(&[job("a", 1.0)]), whole(&[job("a", 2.0)]));
    let both = read(&format!("{first}{second}")).unwrap();
    assert!((both.jobs[0].directions[0].iops - 2.0).abs() < 1e-12);
    let cut = read(&format!("{first}{}", &second[..second.len() / 2])).unwrap();
    assert!((cut.jobs[0].directions[0].iops - 1.0).abs() < 1e-12);
    assert!(cut.remarks.iter().any(|remark| remark.contains("cut off")), "{:?}", cut.remarks);
}

#[test]
fn what_cannot_be_read_says_why() {
    let text = whole(&[job("a", 1.0)]);
    let lines = text[..text.len() / 2].lines().count();
    assert_eq!(read(&text[..text.len() / 2]), Err(Unreadable::CutOff { line: lines }));
    assert_eq!(read(""), Err(Unreadable::NoJson));
    assert_eq!(read("{ \"a\": 1 }"), Err(Unreadable::NotFio));
    assert_eq!(read("{\"fio version\": \"fio-3.1\", \"jobs\": []}"), Err(Unreadable::NoJobs));
    let old = text.replace("fio-3.33", "fio-2.16");
    assert_eq!(read(&old), Err(Unreadable::TooOld { version: "fio-2.16".to_owned() }));
    let Err(Unreadable::Json { what }) = read("{\n\"jobs\": [ }\n") else { panic!() };
    assert!(what.ends_with("at line 2"), "{what}");
}

#[test]
fn every_beginning_of_an_output_is_told_from_a_whole_one() {
    let text = whole(&[job("a", 1.0)]);
    let end = text.trim_end().len();
    for cut in (0..end).step_by(7) {
        assert!(read(&text[..cut]).is_err(), "{cut} of {end} bytes were taken for all");
    }
}

#[test]
fn numbers_that_are_no_json_are_unknown() {
    let text = whole(&[job("a", 1.0)]);
    for (number, word) in [
        ("\"iops_stddev\" : 12.5", "-nan"),
        ("\"iops_stddev\" : 12.5", "inf"),
        ("\"usr_cpu\" : 4.5", "nan"),
    ] {
        let name = number.split(" : ").next().unwrap();
        let output = read(&text.replace(number, &format!("{name} : {word}"))).unwrap();
        assert_eq!(output.jobs.len(), 1, "{word}");
        assert!((output.jobs[0].directions[0].iops - 1.0).abs() < 1e-12);
    }
}

#[test]
fn samples_of_single_requests_are_no_samples_of_the_rate() {
    // fio 3.42 with write_iops_log and without log_avg_msec.
    let text = whole(&[job("a", 1244.175582)])
        .replace("\"iops_mean\" : 1244.175582", "\"iops_mean\" : 1.000000");
    assert_eq!(read(&text).unwrap().jobs[0].directions[0].iops_samples, None);
}

#[test]
fn hosts_are_kept_apart_from_what_fio_added_up() {
    let of_host = |host: &str| {
        job("a", 10.0).replacen(
            "\"groupid\"",
            &format!("\"hostname\" : \"{host}\", \"groupid\""),
            1,
        )
    };
    let all = job("All clients", 20.0);
    let text =
        whole(&[of_host("one"), of_host("two"), all]).replace("\"jobs\"", "\"client_stats\"");
    let output = read(&text).unwrap();
    let hosts: Vec<_> = output.jobs.iter().map(|job| job.host.as_deref().unwrap()).collect();
    assert_eq!(hosts, ["one", "two"]);
}

#[test]
fn bins_by_place_are_those_by_value() {
    let places = |bins: &str| {
        whole(&[job("a", 1.0)]).replace(
            r#""bins" : { "41728" : 1, "264192" : 979, "415744" : 15, "3162112" : 5 }"#,
            bins,
        )
    };
    let old = places(
        r#""bins" : { "FIO_IO_U_PLAT_BITS" : 6, "FIO_IO_U_PLAT_VAL" : 64, "FIO_IO_U_PLAT_NR" : 1856, "657" : 1, "0" : 0, "127" : 2, "128" : 3 }"#,
    );
    let bins: Vec<_> = read(&old).unwrap().jobs[0].directions[0].latency.bins.iter().collect();
    assert_eq!(bins, [(127, 2), (129, 3), (41_728, 1)]);
}
