// The schema of `quorum`: how many operators must say yes.

import { z } from 'zod'
import { risks } from '../../domain/agent/tool-settings.ts'
import { type Quorum, sameForEveryRisk } from '../../domain/supervision/quorum.ts'
import { count, key, reporter } from './schema-key.ts'

const people = () => count().max(20)

/** A number for every risk, or one for each. A risk that is left out needs as many as the next lower one. */
export const quorum = (description: string) =>
  key(
    z
      .union([
        people(),
        z
          .strictObject({
            low: key(people(), 'Yeses that a call of risk low needs; 1 if left out.', 1).optional(),
            high: key(people(), 'Yeses that a call of risk high needs; as many as `low` if left out.', 1).optional(),
            critical: key(
              people(),
              'Yeses that a call of risk critical needs; as many as `high` if left out.',
              2,
            ).optional(),
          })
          .superRefine((value, context) => {
            let most = 1
            for (const risk of risks) {
              const needed = value[risk] ?? most
              if (needed < most) {
                reporter(context)(risk, `a lower risk needs ${most} yeses, so this one cannot need fewer.`)
              }
              most = Math.max(most, needed)
            }
          }),
      ])
      .transform((value): Quorum => {
        if (typeof value === 'number') return sameForEveryRisk(value)
        const { low = 1 } = value
        const { high = low } = value
        const { critical = high } = value
        return { low, high, critical }
      }),
    description,
    { critical: 2 },
    'a number of people from 1 to 20, or one for each of low, high and critical',
  )
