import { z } from 'zod'
import { parseUuid } from '../../../domain/ids.ts'

export const uuid = z.string().refine((text) => parseUuid(text) === text, 'expected a UUID in lower case')
export const time = z.number().int().nonnegative()
export const count = z.number().int().nonnegative()

/** A record with every key that its type has, also the optional ones: an archive with a key that is not listed could not be read. */
export const whole =
  <T>() =>
  <Shape extends Record<keyof T, z.ZodType>>(shape: Shape): z.ZodObject<Shape, z.core.$strict> =>
    z.strictObject(shape)
