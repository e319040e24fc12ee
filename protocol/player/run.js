/** A run, unfolded: every view of it, and what is told about a view. */

import { plural, words } from "./elements.js";

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

  // in which generation a member was told the version that will kill it
  const told = [{}];
  const died = [0];
  for (let i = 1; i < states.length; i++) {
    told.push({});
    died.push(died[i - 1]);
    for (const name of names) {
      const now = states[i].members[name];
      if (poisoned(now)) told[i][name] = told[i - 1][name] ?? states[i].group.generation;
      if (now.state === "CRASHED" && states[i - 1].members[name].state !== "CRASHED") died[i] += 1;
    }
  }
  const owner = {}; // whose a member id is, also after its process has gone
  for (const state of states) for (const name of names) owner[state.members[name].id] = name;
  delete owner[""];

  return {
    data, states, frames, names, alive, poisoned, says, told, died, owner,
    length: states.length,
    side: (member) => side[member.jar],
    chapters: data.meta.bounces,
    opening: `The group is ${words(data.first.group.state)}`,
    /** Everything that paints a member, as classes. */
    paint: (member) =>
      `jar-${side[member.jar]} says-${says(member)} ${alive(member) ? "" : "off"} ${poisoned(member) ? "poisoned" : ""}`,
  };
}

/** What two views differ in, as [who, what]; members to whom the same happened share a line. */
export function difference(run, index) {
  if (index === 0) return [];
  const [before, after] = [run.states[index - 1], run.states[index]];
  const lines = new Map();
  for (const name of run.names) {
    const [old, now] = [before.members[name], after.members[name]];
    const parts = [];
    if (old.state !== now.state) parts.push(`${words(old.state)} → ${words(now.state)}`);
    if (old.jar !== now.jar) parts.push(`jar ${old.jar} → ${now.jar}`);
    if (old.speaks !== now.speaks) parts.push(`speaks v${old.speaks} → v${now.speaks}`);
    if (old.tasks.length && !now.tasks.length) parts.push("gives up its tasks");
    else if (old.tasks.join() !== now.tasks.join()) parts.push(`gets ${plural(now.tasks.length, "task")}`);
    if (old.id && now.id && old.id !== now.id) parts.push(`new id ${now.id}`);
    else if (!old.id && now.id) parts.push(`joins as ${now.id}`);
    if (now.failure && now.failure !== old.failure) parts.push(now.failure.split(":")[0]);
    if (parts.length) lines.set(parts.join(", "), [...(lines.get(parts.join(", ")) ?? []), name]);
  }
  const result = [...lines].map(([what, who]) => [together(who, run.names), what]);
  const [old, now] = [before.group, after.group];
  const parts = [];
  if (old.state !== now.state) parts.push(`${words(old.state)} → ${words(now.state)}`);
  if (old.generation !== now.generation) parts.push(`generation ${now.generation}`);
  if (old.leader_id !== now.leader_id) parts.push(now.leader_id ? `${now.leader_id} leads` : "no leader");
  for (const id of now.ghosts) if (!old.ghosts.includes(id)) parts.push(`${id} is a ghost`);
  for (const id of old.members) if (!now.members.includes(id)) parts.push(`${id} is forgotten`);
  if (parts.length) result.push(["◆", parts.join(", ")]);
  return result;
}

export function together(who, everyone) {
  if (who.length === everyone.length && who.length > 3) return "All";
  return who.length > 4 ? `${who.length} members` : who.join(" ");
}

/** A message in a few characters: the two ints of its payload, and the tasks. */
export function label(message) {
  if (message.kind === "LeaveGroup") return "leaves";
  if (message.version === undefined) return "";
  const ints = `v${message.version}${message.supported === undefined || message.supported < 0 ? "" : `/${message.supported}`}`;
  if (message.to === "coordinator") return `${message.kind === "SyncGroup" ? "assigns" : "joins"} ${ints}`;
  const tasks = message.tasks ?? [];
  return `${ints}, ${tasks.length > 2 ? plural(tasks.length, "task") : tasks.join(" ") || "no tasks"}`;
}
