/** Where a tool call goes: one webhook for each tool and person. */

/** Tool name -> domain and verb of its webhook. */
const PATHS = Object.freeze({
  list_calendar_events: "calendar/list",
  add_calendar_event: "calendar/add",
  list_tasks: "tasks/list",
  add_task: "tasks/add",
  read_sheet: "sheets/read",
  append_sheet_row: "sheets/append",
});

/**
 * The path below n8n's address, such as `/webhook/L4CK3Y/calendar/add/wife`; null where the
 * configuration knows no such person.
 */
export function webhookPath(config, tool, profile) {
  if (!Object.hasOwn(PATHS, tool) || !Object.hasOwn(config.profiles, profile)) return null;
  const parts = [...(config.prefix ?? "").split("/"), ...PATHS[tool].split("/"), profile];
  return ["/webhook", ...parts.filter(Boolean).map(encodeURIComponent)].join("/");
}

export function webhookUrl(config, path) {
  return config.baseUrl.replace(/\/+$/, "") + path;
}
