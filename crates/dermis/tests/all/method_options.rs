//! Options of methods by name, and the pages that are made from what methods say about themselves.

use std::fmt::Write as _;

use dermis::fit::{FitError, Method, MethodOption, OptionKind, StockPlayers, Weights};

use crate::support::repository;

/// Values that every option of a kind takes.
fn values(kind: OptionKind) -> Vec<String> {
    match kind {
        OptionKind::Count { .. } => vec!["3".to_owned(), "7".to_owned()],
        OptionKind::Number { .. } => vec!["0.125".to_owned(), "2".to_owned()],
        OptionKind::Degrees { .. } => vec!["33".to_owned(), "90".to_owned()],
        OptionKind::Words(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        OptionKind::Method { word } => vec![word.to_owned(), "mwe".to_owned(), "lbs".to_owned()],
    }
}

fn option(method: &Method, name: &str) -> MethodOption {
    let mut options = method.options().into_iter();
    let option = options.find(|option| option.name == name);
    option.unwrap_or_else(|| panic!("{} has {name}", method.key()))
}

#[test]
fn every_option_can_be_set_changes_the_method_and_can_be_set_back() {
    for method in Method::all(4) {
        for MethodOption {
            name, kind, value, ..
        } in method.options()
        {
            for text in values(kind).into_iter().filter(|text| *text != value) {
                let mut changed = method.clone();
                changed.set(name, &text).expect("of its kind");
                assert_ne!(changed, method, "{name} {text}");
                assert_eq!(changed.check(), Ok(()), "{name} {text}");
                let mut with_underscores = method.clone();
                let keyword = name.replace('-', "_");
                with_underscores.set(&keyword, &text).expect("of its kind");
                assert_eq!(changed, with_underscores, "{name} and {keyword}");
                // Pose space deformation with a limit is EigenSkin: the option is there all the same.
                assert_eq!(option(&changed, name).value, text, "{name}");
                changed.set(name, &value).expect("its own text");
                assert_eq!(changed, method, "{name} back to {value}");
            }
        }
    }
}

#[test]
fn what_is_not_of_its_kind_is_refused_with_what_was_expected() {
    for method in Method::all(4) {
        for MethodOption { name, kind, .. } in method.options() {
            let error = method.clone().set(name, "magic").expect_err("no such word");
            let expected = format!("option {name}: magic is not {}", kind.expected());
            assert_eq!(error.to_string(), expected, "{}", method.key());
            if let OptionKind::Number { .. } | OptionKind::Degrees { .. } = kind {
                for text in ["-1", "inf", "NaN"] {
                    let mut changed = method.clone();
                    changed.set(name, text).expect("a number");
                    let error = changed.check().expect_err(text);
                    let FitError::BadOption { option, .. } = &error else {
                        panic!("{name} {text}: {error}");
                    };
                    assert_eq!(*option, name, "{error}");
                }
            }
        }
    }
}

#[test]
fn an_option_that_a_method_lacks_is_refused_with_those_that_it_has() {
    let mut method = Method::from_key("psd").expect("a method");
    let error = method.set("delta", "0.1").expect_err("of animation space");
    let text = error.to_string();
    assert!(
        text.starts_with(
            "pose space deformation has no option delta; it has max-influences, base,"
        ),
        "{text}"
    );
    method.set("base", "animation-space").expect("a method");
    method.set("delta", "0.1").expect("of its base");
    let Method::Psd(options) = &method else {
        panic!("pose space deformation");
    };
    assert_eq!(option(&options.bases[0], "delta").value, "0.1", "passed on");
}

#[test]
fn a_name_means_the_same_wherever_it_is_an_option() {
    let methods = Method::all(4);
    let options: Vec<MethodOption> = methods.iter().flat_map(Method::options).collect();
    for option in &options {
        let same = options.iter().find(|other| other.name == option.name);
        assert_eq!(
            same.map(|other| other.help),
            Some(option.help),
            "{}",
            option.name
        );
    }
    // What shapes pass on to their base must not be an option of theirs.
    let shapes = Method::from_key("psd").expect("a method").options();
    for base in methods.iter().filter(|m| !matches!(m, Method::Psd(_))) {
        for own in &shapes[1..] {
            let clash = base.options().iter().any(|option| option.name == own.name);
            assert!(!clash, "{} of {}", own.name, base.key());
        }
    }
}

/// The text between two marks of a page, and the page with other text there.
fn between(page: &str, mark: &str, text: &str) -> (String, String) {
    let [begin, end] = [
        format!("<!-- {mark} -->\n"),
        format!("<!-- end of {mark} -->"),
    ];
    let start = page.find(&begin).expect("the mark of its beginning") + begin.len();
    let stop = start + page[start..].find(&end).expect("the mark of its end");
    let with = format!("{}{text}{}", &page[..start], &page[stop..]);
    (page[start..stop].to_owned(), with)
}

/// `DERMIS_WRITE_DOCS=1 cargo test -p dermis --test all method_options` writes the tables.
#[test]
fn the_tables_of_the_pages_are_what_the_methods_say() {
    for (page, mark, table) in [
        ("docs/methods/README.md", "methods", method_table()),
        ("docs/methods/README.md", "options", option_table()),
        ("docs/guide/fit-examples.md", "methods", short_table()),
    ] {
        let path = repository().join(page);
        let text = std::fs::read_to_string(&path).expect("a page");
        let (found, with) = between(&text, mark, &table);
        if std::env::var_os("DERMIS_WRITE_DOCS").is_some() {
            std::fs::write(&path, with).expect("it can be written");
        } else {
            assert_eq!(found, table, "{page}: DERMIS_WRITE_DOCS=1 writes it");
        }
    }
}

fn names(method: &Method) -> String {
    let info = method.info();
    match info.name() == info.key {
        true => format!("`{}`", info.key),
        false => format!("`{}`, also called `{}`", info.name(), info.key),
    }
}

fn short_table() -> String {
    let mut table = "| `--method` | what it is |\n| --- | --- |\n".to_owned();
    for (n, method) in Method::all(4).iter().enumerate() {
        let default = if n == 0 { " (default)" } else { "" };
        let summary = method.info().summary;
        let _ = writeln!(table, "| {}{default} | {summary} |", names(method));
    }
    table
}

fn method_table() -> String {
    let mut table = "| method | what it is | use it when | turns with the character | one kernel | weights | stock glTF players |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let yes = |is_so: bool| if is_so { "yes" } else { "no" };
    for method in Method::all(4) {
        let info = method.info();
        let promises = info.promises;
        let weights = match promises.weights {
            Weights::Shares => "at least 0, sum to 1",
            Weights::SumToOne => "sum to 1",
            Weights::Free => "any",
        };
        let players = match promises.in_stock_players {
            StockPlayers::Exact => "show it exactly",
            StockPlayers::Baked => "show it in clips, into which it is baked",
            StockPlayers::StandIn => "show a stand-in",
            StockPlayers::StandInOrExact => "show a stand-in; exactly with `--plain-exact`",
        };
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {weights} | {players} |",
            names(&method),
            info.summary,
            info.use_when,
            yes(promises.turns_with_the_character),
            yes(promises.is_linear),
        );
    }
    table
}

fn option_table() -> String {
    let mut table =
        "| option | methods | takes | default | what it does |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    let methods = Method::all(4);
    let mut seen: Vec<&str> = Vec::new();
    for option in methods.iter().flat_map(Method::options) {
        if seen.contains(&option.name) {
            continue;
        }
        seen.push(option.name);
        let of: Vec<(String, MethodOption)> = (methods.iter())
            .filter_map(|method| {
                let same = method
                    .options()
                    .into_iter()
                    .find(|o| o.name == option.name)?;
                Some((format!("`{}`", method.info().name()), same))
            })
            .collect();
        let list = match of.len() == methods.len() {
            true => "all".to_owned(),
            false => of
                .iter()
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        };
        let default = match of.iter().all(|(_, other)| other.value == option.value) {
            true => format!("`{}`", option.value),
            false => {
                let each = of
                    .iter()
                    .map(|(name, other)| format!("`{}` for {name}", other.value));
                each.collect::<Vec<_>>().join(", ")
            }
        };
        let _ = writeln!(
            table,
            "| `--{}` | {list} | {} | {default} | {} |",
            option.name,
            option.kind.expected(),
            option.help
        );
    }
    table
}
