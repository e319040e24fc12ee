/** A run, unfolded: every view of it, and what is told about a view. */

import { words } from "./elements.js";

/** Every view of a run, from its first view and the deltas; index 0 is the start, index i follows frame i. */
export function unfold(data) {
  const states = [data.first];
  for (const frame of data.frames) {
    const before = states.at(-1);
    const members = { ...before.members };
    for (const [who, changed] of frame.members ?? []) {
      for (const name of who) members[name] = { ...members[name], ...changed };
    }
    states.push({ members, group: { ...before.group, ...frame.group } });
  }
  const names = data.meta.members;
  const frames = [null, ...data.frames.map((frame) => ({
    ...frame,
    why: data.reasons[frame.why],
    note: data.reasons[frame.note],
    source: data.sources[frame.source],
    messages: (frame.messages ?? []).map((place) => data.messages[place]),
    moves: (frame.moves ?? []).flatMap(([key, who]) => who.map((name) => [name, key])),
    log: frame.log ?? [],
  }))];
  const side = Object.fromEntries(data.meta.binaries.map((binary) => [binary.name, binary.side]));
  const byLatest = [...data.meta.binaries].sort((a, b) => a.latest - b.latest);

  const alive = (member) => member.state !== "STOPPED" && member.state !== "CRASHED";
  const poisoned = (member) => alive(member) && member.speaks > member.supports;
  /** The side whose version a member speaks: its own, if it speaks its latest. */
  const says = (member) =>
    member.speaks === member.supports
      ? side[member.jar]
      : (byLatest.find((binary) => binary.latest >= member.speaks) ?? byLatest.at(-1)).side;

  const died = [0];
  for (let i = 1; i < states.length; i++) {
    const fell = names.filter((name) => states[i].members[name].state === "CRASHED" && states[i - 1].members[name].state !== "CRASHED");
    died.push(died[i - 1] + fell.length);
  }
  const owner = {}; // whose a member id is, also after its process has gone
  for (const state of states) for (const name of names) owner[state.members[name].id] = name;
  delete owner[""];

  return {
    data, states, frames, names, alive, poisoned, says, died, owner,
    length: states.length,
    side: (member) => side[member.jar],
    chapters: data.meta.bounces,
    opening: `The group is ${words(data.first.group.state)}`,
    /** Everything that paints a member, as classes. */
    paint: (member) =>
      `jar-${side[member.jar]} says-${says(member)} ${alive(member) ? "" : "off"} ${poisoned(member) ? "poisoned" : ""}`,
  };
}

export function together(who, everyone) {
  if (who.length === everyone.length && who.length > 3) return "All";
  return who.length > 4 ? `${who.length} members` : who.join(" ");
}
