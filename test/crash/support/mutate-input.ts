// Thousands of broken inputs from a seed: valid ones in which something was changed.

import type { Random } from '../../sim/random.ts'

/** Changes one to three places of a JSON value. */
export function mutateJson(valid: unknown, random: Random): unknown {
  let value: unknown = structuredClone(valid)
  for (let i = random.between(1, 3); i > 0; i -= 1) value = mutateSomewhere(value, random)
  return value
}

/** Cuts, doubles, flips or inserts some bytes. */
export function mutateBytes(valid: Buffer, random: Random): Buffer {
  const at = random.below(valid.length)
  const [head, tail] = [valid.subarray(0, at), valid.subarray(at)]
  switch (random.below(5)) {
    case 0:
      return Buffer.from(head)
    case 1:
      return Buffer.concat([head, tail.subarray(0, random.below(tail.length + 1)), tail])
    case 2:
      return Buffer.concat([head, random.bytes(random.between(1, 8)), tail])
    case 3:
      return Buffer.concat([head, tail.subarray(random.between(1, 8))])
    default: {
      const flipped = Buffer.from(valid)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
      return flipped
    }
  }
}

function mutateSomewhere(value: unknown, random: Random): unknown {
  if (random.chance(0.15) || typeof value !== 'object' || value === null) return junk(random)
  if (Array.isArray(value)) return mutateList(value, random)
  const entries = Object.entries(value)
  const index = random.below(entries.length)
  const [key, member] = entries[index] ?? ['', null]
  switch (random.below(6)) {
    case 0:
      entries.splice(index, 1)
      break
    case 1:
      entries.push([String(junkText(random)), junk(random)])
      break
    case 2:
      entries[index] = [key, junk(random)]
      break
    default:
      entries[index] = [key, mutateSomewhere(member, random)]
  }
  return Object.fromEntries(entries)
}

function mutateList(list: readonly unknown[], random: Random): unknown[] {
  const index = random.below(list.length + 1)
  switch (random.below(5)) {
    case 0:
      return list.toSpliced(index, 1)
    case 1:
      return list.toSpliced(index, 0, junk(random))
    case 2:
      return [...list, ...list]
    case 3:
      return Array.from({ length: random.between(2, 200) }, () => list[0] ?? null)
    default:
      return list.length === 0
        ? [junk(random)]
        : list.with(index % list.length, mutateSomewhere(list[index % list.length], random))
  }
}

function junk(random: Random): unknown {
  const makers: readonly [() => unknown, ...(() => unknown)[]] = [
    () => null,
    () => random.chance(0.5),
    () => random.between(-2, 2),
    () => 1e308 * (random.chance(0.5) ? 1 : -1),
    () => Number.MAX_SAFE_INTEGER + 1,
    () => '',
    () => [],
    () => ({}),
    () => junkText(random),
    () => [junkText(random), null, { type: 'text', text: junkText(random) }],
    () => ({ id: junkText(random), role: random.pick(ROLES), content: junkText(random) }),
    () => [{ type: random.pick(['text', 'image', 'binary', 'hologram', '']), text: 1, data: junkText(random) }],
    () => nested(random.between(1, 120)),
  ]
  return random.pick(makers)()
}

const ROLES = ['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity', 'emperor', ''] as const

function junkText(random: Random): string {
  return random.pick([
    'id',
    'x'.repeat(random.between(100, 2_000)),
    '\u0000',
    'line\nbreak\r\n',
    '\u2028\u202e',
    '\ud800',
    '😀'.repeat(random.between(1, 80)),
    '__proto__',
    'constructor',
    'toString',
    '../../etc/passwd',
    "'; DROP TABLE sessions; --",
    '<script>alert(1)</script>',
    'data: {"type":"RUN_FINISHED"}\n\n',
    '   ',
    '-1',
    'null',
  ])
}

function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value }
  return value
}
