//! Small samples in the form of what real services print.

use super::Case;

const GITHUB: &str = r#"{"id":"2489651045","type":"CreateEvent","actor":{"id":665991,"login":"petroav","gravatar_id":"","url":"https://api.github.com/users/petroav"},"repo":{"id":28688495,"name":"petroav/6.828"},"payload":{"ref":"master","ref_type":"branch","description":"Solution to homework and assignments from MIT's 6.828. \"Done\" in my spare time.","pusher_type":"user"},"public":true,"created_at":"2015-01-01T15:00:00Z"}
{"id":"2489651051","type":"PushEvent","actor":{"id":3854017,"login":"rspt"},"repo":{"id":28671719,"name":"rspt/rspt-theme"},"payload":{"push_id":536863970,"size":2,"commits":[{"sha":"6b08","message":"Fix #1\n\nlonger","distinct":true},{"sha":"7c19","message":"tab\there","distinct":false}]},"public":true,"created_at":"2015-01-01T15:59:59Z"}
{"id":"2489651053","type":"PushEvent","actor":{"id":6339799,"login":"izuzero"},"repo":{"id":28270952,"name":"izuzero/xe"},"payload":{"push_id":536863972,"size":0,"commits":[]},"public":true,"created_at":"2015-01-01T16:00:00Z","org":{"id":1}}
"#;
const TRAIL: &str = r#"{"Records":[{"eventVersion":"1.08","userIdentity":{"type":"IAMUser","userName":"alice","sessionContext":{"attributes":{"mfaAuthenticated":"false"}}},"eventTime":"2023-07-19T21:17:28Z","eventName":"StartInstances","sourceIPAddress":"192.0.2.0","requestParameters":{"instancesSet":{"items":[{"instanceId":"i-EXAMPLE56126103cb"}]}},"errorCode":null},{"eventVersion":"1.08","userIdentity":{"type":"Root"},"eventTime":"2023-07-19T22:00:01Z","eventName":"ConsoleLogin","sourceIPAddress":"192.0.2.7","requestParameters":null,"errorCode":"AccessDenied"},{"userIdentity":{"type":"IAMUser","userName":"alice"},"eventTime":"2023-07-19T21:59:59Z","eventName":"StopInstances","sourceIPAddress":"192.0.2.0"}]}"#;
const JOURNAL: &str = r#"{"__CURSOR":"s=a;i=1","__REALTIME_TIMESTAMP":"1423944916375353","PRIORITY":"6","_SYSTEMD_UNIT":"cron.service","MESSAGE":"pam_unix(cron:session): session opened","_PID":"11"}
{"__CURSOR":"s=a;i=2","__REALTIME_TIMESTAMP":"1423944916375354","PRIORITY":"3","_SYSTEMD_UNIT":"ssh.service","MESSAGE":[27,91,51,49,109],"_PID":"12","_SELINUX_CONTEXT":["a","b"]}
{"__CURSOR":"s=a;i=3","__REALTIME_TIMESTAMP":"1423944916375355","PRIORITY":"3","_SYSTEMD_UNIT":"cron.service","MESSAGE":null}
"#;
const DOCKER: &str = r#"[
    {
        "Id": "ab12",
        "Created": "2026-11-20T08:00:00.123456789Z",
        "State": {
            "Status": "running",
            "Running": true,
            "Pid": 4242,
            "ExitCode": 0
        },
        "Name": "/web",
        "Mounts": [],
        "Config": {
            "Env": [
                "PATH=/usr/bin",
                "A=b c"
            ],
            "Labels": {
                "com.docker.compose.project": "shop",
                "maintainer": "NGINX <x@y.z>"
            }
        },
        "NetworkSettings": {
            "Ports": {
                "80/tcp": [
                    {
                        "HostIp": "0.0.0.0",
                        "HostPort": "8080"
                    }
                ]
            }
        }
    },
    {
        "Id": "cd34",
        "State": {"Status": "exited", "Running": false, "Pid": 0, "ExitCode": 137},
        "Name": "/db",
        "Config": {"Env": null, "Labels": {}},
        "NetworkSettings": {"Ports": {}}
    }
]
"#;
const NPM: &str = r#"{"_id":"left-pad","dist-tags":{"latest":"1.3.0"},"versions":{"1.2.0":{"name":"left-pad","dependencies":{},"dist":{"shasum":"9f","size":12}},"1.3.0":{"name":"left-pad","dependencies":{"@types/node":"^1"},"dist":{"shasum":"5b"}}},"time":{"1.3.0":"2018-04-09T01:10:45.796Z"},"readme":"Left-pad\n\n[![Build](https://x/y.png)]\r\n","keywords":["leftpad","left","pad"]}"#;
const GEO: &str = r#"{ "type": "FeatureCollection", "features": [
{ "type": "Feature", "id": 1, "properties": { "name": "Zürich", "pop": 402762 }, "geometry": { "type": "Point", "coordinates": [8.541700, 47.376900] } },
{ "type": "Feature", "id": 2, "properties": { "name": null, "pop": 1.5e3 }, "geometry": { "type": "Polygon", "coordinates": [[[0,0],[1.0,0],[1,1],[0,0]]] } },
{ "type": "Feature", "id": 3, "properties": {}, "geometry": null }
] }
"#;
const PODS: &str = r#"{"apiVersion":"v1","kind":"List","items":[{"kind":"Pod","metadata":{"name":"api-1","namespace":"default","labels":{"app.kubernetes.io/name":"api"}},"status":{"phase":"Running","containerStatuses":[{"name":"api","restartCount":3,"ready":true},{"name":"proxy","restartCount":0,"ready":false}]}},{"kind":"Pod","metadata":{"name":"job-x","namespace":"batch"},"status":{"phase":"Failed"}},{"kind":"Pod","metadata":{"name":"api-2","namespace":"default","labels":{"app.kubernetes.io/name":"api"}},"status":{"phase":"Running","containerStatuses":[{"name":"api","restartCount":1,"ready":true}]}}]}"#;

pub(crate) const CASES: &[Case] = &[
    Case::new(
        "github: who and where",
        GITHUB,
        "select .type .actor.login .repo.name",
        "CreateEvent\tpetroav\tpetroav/6.828\nPushEvent\trspt\trspt/rspt-theme\nPushEvent\tizuzero\tizuzero/xe\n",
    ),
    Case::new(
        "github: messages of commits",
        GITHUB,
        "select .id '.payload.commits[].message' '.payload.commits[].distinct'",
        "2489651051\tFix #1\\n\\nlonger\ttrue\n2489651051\ttab\\there\tfalse\n",
    ),
    Case::new(
        "github: pushes with commits",
        GITHUB,
        r#"where '.type == "PushEvent" && .payload.size > 0'"#,
        "",
    )
    .lines(&[2]),
    Case::new("github: of an organisation", GITHUB, "where 'exists .org'", "").lines(&[3]),
    Case::new(
        "github: any commit that is not distinct",
        GITHUB,
        "where '.payload.commits[].distinct == false'",
        "",
    )
    .lines(&[2]),
    Case::new(
        "github: by type",
        GITHUB,
        "group .type count 'sum .payload.size' 'distinct .actor.id'",
        "CreateEvent\t1\t\t1\nPushEvent\t2\t2\t2\n",
    ),
    Case::new(
        "github: an hour",
        GITHUB,
        r#"where 'hour .created_at == "2015-01-01T15:00:00Z"'"#,
        "",
    )
    .lines(&[1, 2]),
    Case::new(
        "cloudtrail: names and times",
        TRAIL,
        "select '.Records[].eventName' '.Records[].userIdentity.userName' '.Records[].errorCode'",
        "StartInstances\talice\tnull\nConsoleLogin\t\tAccessDenied\nStopInstances\talice\t\n",
    ),
    Case::new("cloudtrail: elements", TRAIL, "each .Records", "").oracle("jq -c '.Records[]'"),
    Case::new(
        "cloudtrail: deep in one record",
        TRAIL,
        "select '.Records[0].requestParameters.instancesSet.items[0].instanceId' '.Records[-1].eventName'",
        "i-EXAMPLE56126103cb\tStopInstances\n",
    ),
    Case::new(
        "cloudtrail: documents with an element that failed",
        TRAIL,
        r#"where '.Records[].errorCode ~ "Denied"' "#,
        "",
    )
    .through("wc -l", "1\n"),
    Case::new(
        "journald: units by priority",
        JOURNAL,
        "group .PRIORITY,._SYSTEMD_UNIT count",
        "3\tcron.service\t1\n3\tssh.service\t1\n6\tcron.service\t1\n",
    ),
    Case::new(
        "journald: a message of bytes",
        JOURNAL,
        "select .__REALTIME_TIMESTAMP .MESSAGE",
        "1423944916375353\tpam_unix(cron:session): session opened\n1423944916375354\t[27,91,51,49,109]\n1423944916375355\tnull\n",
    ),
    Case::new(
        "journald: a field that is a list at times",
        JOURNAL,
        "select .__CURSOR '._SELINUX_CONTEXT[1]'",
        "s=a;i=1\t\ns=a;i=2\tb\ns=a;i=3\t\n",
    ),
    Case::new("journald: priorities are strings", JOURNAL, "where '.PRIORITY == 3'", ""),
    Case::new("journald: kinds of message", JOURNAL, "keys", "").through(
        "grep '^\\.MESSAGE\t' | cut -f2 | tr -d ' 0-9' | tr , '\\n' | sort | paste -sd,",
        "array,null,string\n",
    ),
    Case::new(
        "docker: names and states",
        DOCKER,
        "select '.[].Name' '.[].State.Status' '.[].State.ExitCode'",
        "/web\trunning\t0\n/db\texited\t137\n",
    ),
    Case::new(
        "docker: a label with dots",
        DOCKER,
        r#"select '.[].Config.Labels."com.docker.compose.project"'"#,
        "shop\n\n",
    ),
    Case::new(
        "docker: a port",
        DOCKER,
        r#"select '.[].NetworkSettings.Ports["80/tcp"][0].HostPort'"#,
        "8080\n\n",
    ),
    Case::new(
        "docker: the environment of the first",
        DOCKER,
        "select '.[0].Config.Env[]'",
        "PATH=/usr/bin\nA=b c\n",
    ),
    Case::new("docker: elements on a line each", DOCKER, "each .", "")
        .through("jq -c .Id; wc -l < output", "\"ab12\"\n\"cd34\"\n2\n"),
    Case::new("docker: a document is a record", DOCKER, "where '.[].State.Running == true'", "")
        .oracle("cat"),
    Case::new(
        "npm: a version and its tag",
        NPM,
        r#"select '.versions."1.3.0".dist.shasum' '.["dist-tags"].latest' .dist-tags.latest '.versions["1.3.0"].dependencies["@types/node"]'"#,
        "5b\t1.3.0\t1.3.0\t^1\n",
    ),
    Case::new(
        "npm: the readme in tsv",
        NPM,
        "select .readme",
        "Left-pad\\n\\n[![Build](https://x/y.png)]\\r\\n\n",
    ),
    Case::new("npm: versions are members", NPM, "each .versions", "").oracle("jq -c '.versions[]'"),
    Case::new("npm: paths", NPM, "keys", "")
        .through("cut -f1 | grep -cF '.versions.\"1.3.0\".dep'", "2\n"),
    Case::new(
        "geojson: coordinates keep their digits",
        GEO,
        "select '.features[].id' '.features[].geometry.coordinates'",
        "1\t[8.541700,47.376900]\n2\t[[[0,0],[1.0,0],[1,1],[0,0]]]\n3\t\n",
    ),
    Case::new(
        "geojson: properties",
        GEO,
        "select '.features[].properties.name' '.features[].properties.pop'",
        "Zürich\t402762\nnull\t1.5e3\n\t\n",
    ),
    Case::new("geojson: features are on a line each already", GEO, "each .features", "")
        .oracle("sed -n '2,4{s/,$//;s/ *$//;p}'"),
    Case::new(
        "geojson: the first coordinate",
        GEO,
        "select '.features[0].geometry.coordinates[0]' '.features[1].geometry.coordinates[0][1][0]'",
        "8.541700\t1.0\n",
    ),
    Case::new(
        "kubernetes: pods and phases",
        PODS,
        "select '.items[].metadata.namespace' '.items[].metadata.name' '.items[].status.phase'",
        "default\tapi-1\tRunning\nbatch\tjob-x\tFailed\ndefault\tapi-2\tRunning\n",
    ),
    Case::new(
        "kubernetes: a label with dots and a slash",
        PODS,
        r#"select '.items[].metadata.labels["app.kubernetes.io/name"]'"#,
        "api\n\napi\n",
    ),
    Case::new(
        "kubernetes: restarts of containers",
        PODS,
        "select '.items[].status.containerStatuses[].name' '.items[].status.containerStatuses[].restartCount'",
        "api\t3\nproxy\t0\napi\t1\n",
    ),
];
