// What models cost, for the page that shows usage, and which ones may be tried.

import { z } from 'zod'
import type { ModelPrice, PriceSettings } from '../../domain/agent/prices.ts'
import { present } from '../../domain/present.ts'
import { key } from '../source/schema-key.ts'
import { fileSetting } from './setting.ts'
import type { ReadSetting } from './settings.ts'

const price = () => z.number().min(0).max(1_000_000)

const modelPrice = () =>
  z
    .strictObject({
      input: key(price(), 'Price per million input tokens.', 0.25),
      output: key(price(), 'Price per million output tokens.', 2),
      cached_input: key(price().optional(), 'Price per million input tokens from the provider’s cache.', 0.025),
      cache_write: key(price().optional(), 'Price per million input tokens that go into the provider’s cache.', 0.3),
    })
    .transform(
      ({ cached_input: cachedInput, cache_write: cacheWrite, ...rest }): ModelPrice =>
        present({ ...rest, cachedInput, cacheWrite }),
    )

export const priceTable = {
  try_models: fileSetting<readonly string[]>({
    schema: z
      .array(z.string().regex(/^[^/]+\/.+$/))
      .max(50)
      .transform((value): readonly string[] => value),
    description:
      'Models that operators may try in the place of an agent’s own: `provider/model`. One of the agent’s own provider is asked with the settings of the agent file, one of another provider with the key from the environment. A run with one is marked, tools and approval rules stay, and no file is changed.',
    expected: 'a list of provider/model names',
    example: ['openai/gpt-5', 'anthropic/claude-sonnet-4-5'],
    default: [],
  }),
  'prices.currency': fileSetting<string>({
    schema: z.string().regex(/^[A-Z]{3}$/),
    description: 'Currency of `prices.models`.',
    expected: 'three capital letters, such as USD',
    example: 'EUR',
    default: 'USD',
  }),
  'prices.models': fileSetting<Readonly<Record<string, ModelPrice>>>({
    schema: z
      .record(z.string().regex(/^[^/]+\/.+$/), modelPrice())
      .transform((value): Readonly<Record<string, ModelPrice>> => value),
    description:
      'What models cost, per million tokens: `input`, `output`, and, if they differ from `input`, `cached_input` and `cache_write`. By provider/model; an exact name wins, then the first glob that matches. `GET /usage` shows no cost for a model without a price.',
    expected: 'provider/model names with prices',
    example: { 'openai/gpt-5-mini': { input: 0.25, output: 2, cached_input: 0.025 } },
    default: {},
  }),
}

export const assemblePrices = (read: ReadSetting): PriceSettings => ({
  currency: read('prices.currency'),
  models: read('prices.models'),
})
