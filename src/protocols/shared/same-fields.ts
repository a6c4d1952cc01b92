// Most fields of a record have the same name on the wire, in snake case. These are read off the schema; an encoder says the others.

import type { z } from 'zod'
import { isoTime } from '../../domain/clock.ts'

type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name

/** As it is on the wire: a time as text, and null for what is left out. */
type Sent<Name extends string, Value> = Value extends undefined
  ? null
  : Value extends number
    ? Name extends `${string}_at`
      ? string
      : Value
    : Value

/** Only plain values: what has parts is encoded field by field, so that nothing goes out that no schema names. */
type Same<Name extends string, Wire, Own> =
  Camel<Name> extends keyof Own
    ? Own[Camel<Name>] extends string | number | boolean | null | undefined
      ? Sent<Name, Own[Camel<Name>]> extends Wire
        ? Name
        : never
      : never
    : never

type SameFields<Wire, Own> = {
  [Name in keyof Wire & string as Same<Name, Wire[Name], Own>]: Wire[Name]
}

/** A record as it is sent, without its words. */
export type Encoded<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape, z.core.$strict>>

/** The fields that need no saying. Spread it first: what the encoder says itself comes after. */
export function sameFields<Own extends object, Shape extends z.ZodRawShape>(
  shape: Shape,
): (record: Own) => SameFields<Encoded<Shape>, Own> {
  const names = Object.keys(shape).map((name) => ({ name, own: camelCase(name), isTime: name.endsWith('_at') }))
  return (record) => {
    const values = record as Record<string, unknown>
    return Object.fromEntries(
      names.map(({ name, own, isTime }) => {
        const value = values[own] ?? null
        return [name, isTime && typeof value === 'number' ? isoTime(value) : value]
      }),
    ) as SameFields<Encoded<Shape>, Own>
  }
}

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
