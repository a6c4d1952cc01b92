// The feed has told of every session, run and approval, and the last that it said of each is how it is.

import type { Checker, Evidence } from '../evidence.ts'

export const feed: Checker = {
  name: 'feed',
  check: (evidence) => [...checkNumbers(evidence), ...checkStatuses(evidence)],
}

const checkNumbers = ({ feed: items }: Evidence): string[] =>
  items
    .filter(({ n }, i) => i > 0 && n !== (items[i - 1]?.n ?? 0) + 1)
    .map(({ n }) => `item ${n} of the feed does not follow the one before it`)

function checkStatuses({ feed: items, sessions, runs, waits }: Evidence): string[] {
  const told = new Map(items.map(({ kind, id, status }) => [`${kind} ${id}`, status]))
  const stored = [
    ...[...sessions.values()].map(({ id, status, supervision }) => [`session ${id}`, supervision?.status ?? status]),
    ...[...runs.values()].map(({ id, status }) => [`run ${id}`, status]),
    ...[...waits.values()].flatMap(({ wait, id, status }) => (wait === 'client_call' ? [] : [[`wait ${id}`, status]])),
  ]
  return stored.flatMap(([what = '', status]) =>
    told.get(what) === status ? [] : [`${what} is ${status}; the feed says ${told.get(what) ?? 'nothing'}`],
  )
}
