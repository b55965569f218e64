//! Which colours and attributes mean what.

use std::ffi::OsStr;

use ratatui::style::{Color, Modifier, Style};

use crate::Unsuitable;

/// How the view looks. Colours are the terminal's own sixteen, so they follow the user's theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// In colour.
    #[default]
    Coloured,
    /// Without colours; bold and dim text only.
    Plain,
}

impl Palette {
    /// The palette that suits the environment variables `TERM` and `NO_COLOR`.
    /// # Errors
    /// [`Unsuitable::DumbTerminal`] when `TERM` is unset, empty or `dumb`.
    ///
    /// Source: <https://no-color.org> (`NO_COLOR` counts when it is not empty).
    pub fn suiting(term: Option<&OsStr>, no_color: Option<&OsStr>) -> Result<Self, Unsuitable> {
        match term {
            None => Err(Unsuitable::DumbTerminal),
            Some(name) if name.is_empty() || name == "dumb" => Err(Unsuitable::DumbTerminal),
            Some(_) if no_color.is_some_and(|value| !value.is_empty()) => Ok(Self::Plain),
            Some(_) => Ok(Self::Coloured),
        }
    }

    fn coloured(self, colour: Color) -> Style {
        match self {
            Self::Coloured => Style::new().fg(colour),
            Self::Plain => Style::new(),
        }
    }

    /// What a reader should see first.
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What a reader may skip.
    pub(crate) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The bottleneck.
    pub(crate) fn verdict(self) -> Style {
        self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// A stage that failed.
    pub(crate) fn failed(self) -> Style {
        self.coloured(Color::Red)
    }

    /// On a CPU.
    pub(crate) fn running(self) -> Style {
        self.coloured(Color::Green)
    }

    /// Waiting for a CPU.
    pub(crate) fn runnable(self) -> Style {
        self.coloured(Color::Red)
    }

    /// Blocked reading a pipe.
    pub(crate) fn reading(self) -> Style {
        self.coloured(Color::Blue)
    }

    /// Blocked writing a pipe.
    pub(crate) fn writing(self) -> Style {
        self.coloured(Color::Magenta)
    }

    /// The history of a rate, and what is in a pipe.
    pub(crate) fn amount(self) -> Style {
        self.coloured(Color::Cyan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dumb_terminal_gets_no_view_and_no_color_gets_no_colours() {
        let os = OsStr::new;
        assert_eq!(Palette::suiting(Some(os("dumb")), None), Err(Unsuitable::DumbTerminal));
        assert_eq!(Palette::suiting(Some(os("")), None), Err(Unsuitable::DumbTerminal));
        assert_eq!(Palette::suiting(None, None), Err(Unsuitable::DumbTerminal));
        assert_eq!(Palette::suiting(Some(os("xterm")), Some(os("1"))), Ok(Palette::Plain));
        assert_eq!(Palette::suiting(Some(os("xterm")), Some(os(""))), Ok(Palette::Coloured));
        assert_eq!(Palette::suiting(Some(os("xterm")), None), Ok(Palette::Coloured));
    }
}
