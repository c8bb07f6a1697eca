/**
 * The six tools as the model is offered them: closed schemas, built for the people of one household.
 *
 * A household maps each person's name to `{ taskLists, tabs, columns }`.
 */

import { Type } from "typebox";

export const INSTANT_PATTERN = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:[0-5]\\d)$";
export const DAY_PATTERN = "^\\d{4}-\\d{2}-\\d{2}$";
/** Google Sheets would evaluate a cell that begins so. */
const CELL_PATTERN = "^(?!\\s*[=+@])";

const optional = Type.Optional;
/** One type list, no union: the gateway converts the cell 2.5 to the text "2.5" where it sees a union. */
const cell = Type.Unsafe({ type: ["string", "number"], pattern: CELL_PATTERN });
const text = (description) => Type.String({ minLength: 1, pattern: "\\S", description });
const oneOf = (names, description) => Type.String({ enum: names, description });
const limit = (maximum) => Type.Integer({ minimum: 1, maximum, description: "At most so many." });
const instant = (description) =>
  Type.String({
    pattern: INSTANT_PATTERN,
    description: `${description} RFC 3339 with offset, such as 2026-07-04T10:00:00-04:00.`,
  });

const namesOf = (household, key) => [...new Set(Object.values(household).flatMap((person) => person[key]))];
const taskList = (household) => oneOf(namesOf(household, "taskLists"), "Name of the task list.");
const tab = (household) => oneOf(namesOf(household, "tabs"), "Name of the sheet.");

function row(household) {
  const counts = Object.values(household).map((person) => person.columns.length);
  const columns = Object.entries(household).map(([name, person]) => `${name}: ${person.columns.join(", ")}`);
  return Type.Array(cell, {
    minItems: Math.min(...counts),
    maxItems: Math.max(...counts),
    description: `One cell for each column (${columns.join("; ")}).`,
  });
}

/** Tool name -> what it does, and its arguments besides `profile`. */
const TOOLS = {
  list_calendar_events: [
    "List a person's calendar events between two moments.",
    () => ({
      start: optional(instant("Earliest moment.")),
      end: optional(instant("Latest moment.")),
      limit: optional(limit(250)),
    }),
  ],
  add_calendar_event: [
    "Add one event to a person's calendar.",
    () => ({
      summary: text("Title of the event."),
      start: instant("When it starts."),
      end: instant("When it ends."),
      category: optional(text("Kind of event, such as personal.")),
    }),
  ],
  list_tasks: [
    "List a person's open tasks.",
    (household) => ({ list: optional(taskList(household)), limit: optional(limit(100)) }),
  ],
  add_task: [
    "Add one task to a person's task list.",
    (household) => ({
      title: text("What is to be done."),
      due: optional(Type.String({ pattern: DAY_PATTERN, description: "Due day, YYYY-MM-DD." })),
      list: optional(taskList(household)),
    }),
  ],
  read_sheet: [
    "Read the rows of a person's sheet.",
    (household) => ({ sheet: tab(household), limit: optional(limit(500)) }),
  ],
  append_sheet_row: [
    "Append one row to a person's sheet.",
    (household) => ({ sheet: tab(household), values: row(household) }),
  ],
};

export const TOOL_NAMES = Object.freeze(Object.keys(TOOLS));

/** `{ name, description, parameters }` of one tool for this household. */
export function toolSchema(name, household) {
  const [description, properties] = TOOLS[name];
  const profile = oneOf(Object.keys(household), "Whose data.");
  const parameters = Type.Object({ profile, ...properties(household) }, { additionalProperties: false });
  return { name, description, parameters };
}
