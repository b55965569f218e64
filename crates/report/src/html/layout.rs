//! Where the boxes of the drawing stand: data flows from left to right, then on to the next row.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_record::RunRecord;

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A stage, by its position in the record.
    Stage(usize),
    /// Something outside the pipeline that feeds it or takes its output.
    Outside,
}

/// A box and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    /// What it stands for.
    pub(super) node: Node,
    /// Its left edge.
    pub(super) x: f64,
    /// Its upper edge.
    pub(super) y: f64,
    column: usize,
    row: usize,
}

/// An arrow: a pipe, and the places of its writer and reader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrow {
    /// Position of the pipe in the record.
    pub(super) pipe: usize,
    /// Rect of the writer.
    pub(super) from: usize,
    /// Rect of the reader.
    pub(super) to: usize,
    /// Whether this arrow carries the numbers of the pipe (the first of its arrows does).
    pub(super) has_label: bool,
}

/// The size of everything in one version of the drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Boxes side by side.
    pub(super) columns: usize,
    /// Width of the drawing.
    pub(super) width: f64,
    /// Width of a box.
    pub(super) box_width: f64,
    /// Height of a box.
    pub(super) box_height: f64,
    /// Distance between boxes side by side.
    pub(super) gap: f64,
    /// Distance between boxes one over the other.
    pub(super) row_gap: f64,
    /// Letters of a command for which a box has room.
    pub(super) letters: usize,
    /// Whether boxes are small and arrows go without numbers.
    pub(super) is_compact: bool,
}

impl Grid {
    /// Whether the drawing is for a screen with a pointer.
    pub(super) fn is_hovered(&self) -> bool {
        self.width > 500.0
    }
}

/// The finished arrangement.
#[derive(Debug)]
pub(super) struct Layout {
    /// The boxes.
    pub(super) places: Vec<Rect>,
    /// The arrows between them.
    pub(super) arrows: Vec<Arrow>,
    /// Height of the drawing.
    pub(super) height: f64,
}

/// How an arrow runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// To the next box in the same row.
    Beside,
    /// To the box right below.
    Below,
    /// Round other boxes.
    Around,
}

/// Room above the first row, for labels on top of boxes.
const TOP: f64 = 34.0;

/// Height of a box for something outside the pipeline.
pub(super) const OUTSIDE_HEIGHT: f64 = 34.0;

/// More boxes than this in one step of the flow are spread over several columns.
const STACK: usize = 5;

/// More arrows than this for one pipe say nothing; each end is then connected once.
const ARROWS_OF_A_PIPE: usize = 9;

impl Layout {
    /// Arranges the stages of `record` in `grid`.
    pub(super) fn new(record: &RunRecord, grid: &Grid) -> Self {
        let (nodes, arrows) = graph(record);
        let mut layout = Self { places: nodes, arrows, height: TOP };
        layout.arrange(grid);
        layout
    }

    /// How the arrow runs.
    pub(super) fn route(&self, arrow: &Arrow) -> Route {
        let (from, to) = (&self.places[arrow.from], &self.places[arrow.to]);
        if from.row == to.row && from.column + 1 == to.column {
            return Route::Beside;
        }
        let is_below = from.x == to.x && from.y < to.y;
        let is_between = |place: &Rect| place.x == from.x && place.y > from.y && place.y < to.y;
        let others_from = self.arrows.iter().filter(|other| other.from == arrow.from).count();
        if is_below && others_from == 1 && !self.places.iter().any(is_between) {
            Route::Below
        } else {
            Route::Around
        }
    }

    fn arrange(&mut self, grid: &Grid) {
        let cells = self.cells();
        let (mut row, mut column, mut top) = (0, 0, TOP);
        let mut in_row: Vec<Vec<usize>> = Vec::new();
        let mut previous: Option<(usize, bool)> = None;
        for (component, is_single, members) in cells {
            let is_new_line = match previous {
                Some((last, was_single)) => last != component && !(is_single && was_single),
                None => false,
            };
            if column >= grid.columns || (is_new_line && column > 0) {
                top = self.set_row(&in_row, row, top, grid);
                in_row.clear();
                (row, column) = (row + 1, 0);
            }
            in_row.push(members);
            column += 1;
            previous = Some((component, is_single));
        }
        top = self.set_row(&in_row, row, top, grid);
        self.height = top - grid.row_gap + 12.0;
    }

    /// Gives the boxes of one row their places; returns the top of the next row.
    fn set_row(&mut self, cells: &[Vec<usize>], row: usize, top: f64, grid: &Grid) -> f64 {
        let stack_gap = if grid.columns == 1 { grid.row_gap } else { 34.0 };
        let height_of = |members: usize| members as f64 * (grid.box_height + stack_gap) - stack_gap;
        let tallest = cells.iter().map(|members| height_of(members.len())).fold(0.0, f64::max);
        // Outside boxes are low; a row of nothing else closes up around their middle.
        let is_outside = |place: &usize| self.places[*place].node == Node::Outside;
        let is_low = !cells.is_empty()
            && cells.iter().all(|members| members.len() == 1 && members.iter().all(is_outside));
        let spare = if is_low && !grid.is_compact { grid.box_height - OUTSIDE_HEIGHT } else { 0.0 };
        let margin =
            (grid.width - grid.columns as f64 * (grid.box_width + grid.gap) + grid.gap) / 2.0;
        for (column, members) in cells.iter().enumerate() {
            let mut y = top + (tallest - spare - height_of(members.len())) / 2.0;
            for member in members {
                let place = &mut self.places[*member];
                place.x = margin + column as f64 * (grid.box_width + grid.gap);
                place.y = y;
                (place.column, place.row) = (column, row);
                y += grid.box_height + stack_gap;
            }
        }
        top + tallest - spare + grid.row_gap
    }

    /// The boxes in the order they are set: one cell a step of the flow, pipelines one after the other.
    /// Each cell comes with its pipeline and whether that pipeline is a single box.
    fn cells(&self) -> Vec<(usize, bool, Vec<usize>)> {
        let components = self.components();
        let layers = self.layers();
        let mut cells: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for place in 0..self.places.len() {
            cells.entry((components[place], layers[place])).or_default().push(place);
        }
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        for component in &components {
            *sizes.entry(*component).or_default() += 1;
        }
        let mut ordered = Vec::new();
        for ((component, _), members) in cells {
            let is_single = sizes[&component] == 1;
            ordered
                .extend(members.chunks(STACK).map(|chunk| (component, is_single, chunk.to_vec())));
        }
        ordered
    }

    /// For each box the smallest box it is connected with, directly or not.
    fn components(&self) -> Vec<usize> {
        let mut parents: Vec<usize> = (0..self.places.len()).collect();
        fn root(parents: &[usize], mut place: usize) -> usize {
            while parents[place] != place {
                place = parents[place];
            }
            place
        }
        for arrow in &self.arrows {
            let (a, b) = (root(&parents, arrow.from), root(&parents, arrow.to));
            parents[a.max(b)] = a.min(b);
        }
        (0..parents.len()).map(|place| root(&parents, place)).collect()
    }

    /// For each box the number of steps data takes to it. Arrows that run against the order of the record close circles and do not count.
    fn layers(&self) -> Vec<usize> {
        let mut layers = vec![0; self.places.len()];
        let mut outgoing: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for arrow in self.arrows.iter().filter(|arrow| arrow.from < arrow.to) {
            outgoing.entry(arrow.from).or_default().insert(arrow.to);
        }
        for from in 0..layers.len() {
            for to in outgoing.get(&from).into_iter().flatten() {
                layers[*to] = layers[*to].max(layers[from] + 1);
            }
        }
        layers
    }
}

/// The boxes and arrows of a record: sources outside first, then the stages, then where the output goes.
fn graph(record: &RunRecord) -> (Vec<Rect>, Vec<Arrow>) {
    let mut nodes = Vec::new();
    let mut sources = BTreeMap::new();
    let mut sinks = BTreeMap::new();
    for (position, _) in record.pipes.iter().enumerate().filter(|(_, pipe)| pipe.outside_writer) {
        sources.insert(position, nodes.len());
        nodes.push(Node::Outside);
    }
    let mut stages = BTreeMap::new();
    for (position, stage) in record.stages.iter().enumerate() {
        stages.entry(stage.stage).or_insert(nodes.len());
        nodes.push(Node::Stage(position));
    }
    for (position, _) in record.pipes.iter().enumerate().filter(|(_, pipe)| pipe.outside_reader) {
        sinks.insert(position, nodes.len());
        nodes.push(Node::Outside);
    }
    let arrows = arrows(record, &stages, &sources, &sinks);
    let place = |node| Rect { node, x: 0.0, y: 0.0, column: 0, row: 0 };
    (nodes.into_iter().map(place).collect(), arrows)
}

/// The arrows of all pipes, given the boxes of stages by number and of what is outside by pipe.
fn arrows(
    record: &RunRecord,
    stages: &BTreeMap<u32, usize>,
    sources: &BTreeMap<usize, usize>,
    sinks: &BTreeMap<usize, usize>,
) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for (position, pipe) in record.pipes.iter().enumerate() {
        let ends = |numbers: &[u32], outside: Option<&usize>| -> BTreeSet<usize> {
            numbers.iter().filter_map(|number| stages.get(number)).chain(outside).copied().collect()
        };
        let writers = ends(&pipe.writers, sources.get(&position));
        let readers = ends(&pipe.readers, sinks.get(&position));
        let is_crowded = writers.len() * readers.len() > ARROWS_OF_A_PIPE;
        let mut has_label = true;
        for (w, from) in writers.iter().enumerate() {
            for (r, to) in readers.iter().enumerate() {
                if from != to && !(is_crowded && w > 0 && r > 0) {
                    arrows.push(Arrow { pipe: position, from: *from, to: *to, has_label });
                    has_label = false;
                }
            }
        }
    }
    arrows
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_record::{PipeRecord, StageRecord};

    const GRID: Grid = Grid {
        columns: 4,
        width: 1000.0,
        box_width: 168.0,
        box_height: 84.0,
        gap: 104.0,
        row_gap: 60.0,
        letters: 20,
        is_compact: false,
    };

    fn record(stages: u32, pipes: &[(u32, u32)]) -> RunRecord {
        let mut record = RunRecord::default();
        for number in 1..=stages {
            let mut stage = StageRecord::default();
            stage.stage = number;
            record.stages.push(stage);
        }
        for (from, to) in pipes {
            let mut pipe = PipeRecord::default();
            pipe.writers = vec![*from];
            pipe.readers = vec![*to];
            record.pipes.push(pipe);
        }
        record
    }

    #[test]
    fn a_row_that_is_full_goes_on_below() {
        let layout = Layout::new(&record(6, &[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]), &GRID);
        assert_eq!(
            layout.places.iter().map(|place| place.row).collect::<Vec<_>>(),
            [0, 0, 0, 0, 1, 1]
        );
        assert_eq!(layout.route(&layout.arrows[0]), Route::Beside);
        assert_eq!(layout.route(&layout.arrows[3]), Route::Around);
    }

    #[test]
    fn readers_of_one_stage_stand_one_over_the_other() {
        let layout = Layout::new(&record(4, &[(1, 2), (1, 3), (1, 4)]), &GRID);
        assert!(
            layout.places[1].x == layout.places[3].x && layout.places[1].y < layout.places[3].y
        );
    }

    #[test]
    fn circles_and_pipes_without_stages_do_no_harm() {
        let layout = Layout::new(&record(2, &[(1, 2), (2, 1), (1, 9), (8, 9), (1, 1)]), &GRID);
        assert_eq!(layout.arrows.len(), 2);
        assert_eq!(Layout::new(&record(0, &[(1, 2)]), &GRID).arrows.len(), 0);
    }
}
