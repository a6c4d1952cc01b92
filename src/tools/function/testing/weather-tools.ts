// Tools for the tests, written as the docs recommend it.

import { z } from 'zod'
import { defineTool } from '../define-tool.ts'
import { ToolError } from '../tool-error.ts'

const climates: Readonly<Record<string, { sky: string; celsius: number }>> = {
  oslo: { sky: 'snow', celsius: -3 },
  rome: { sky: 'sunny', celsius: 24 },
  london: { sky: 'rain', celsius: 11 },
}

export const getWeather = defineTool({
  description: 'The weather of a city now and in the coming days. Knows Oslo, Rome and London.',
  parameters: z.object({
    city: z.string().describe('Name of the city, in English'),
    days: z.int().min(1).max(7).default(1).describe('How many days, today included'),
    unit: z.enum(['celsius', 'fahrenheit']).default('celsius').describe('Unit of the temperatures'),
  }),
  run({ city, days, unit }, { log }) {
    const climate = climates[city.toLowerCase()]
    if (climate === undefined)
      throw new ToolError(`${city} is unknown. Known cities: ${Object.keys(climates).join(', ')}.`)
    log.info('weather asked for', { days })
    const temperature = unit === 'celsius' ? climate.celsius : Math.round(climate.celsius * 1.8 + 32)
    return Array.from({ length: days }, (_, day) => ({ day, sky: climate.sky, temperature: temperature + day, unit }))
  },
})

/** JSON Schema has no word for `refine`, so only our own check knows it. */
export const roll_dice = defineTool({
  description: 'Rolls dice. Returns what each one shows, and the sum.',
  parameters: z
    .object({
      sides: z.int().min(2).max(100).default(6).describe('How many sides each of them has'),
      count: z.int().min(1).max(20).default(1).describe('How many dice'),
    })
    .refine(({ sides, count }) => sides * count <= 200, 'so many dice with so many sides do not fit on the table'),
  async run({ sides, count }, { signal, progress }) {
    const shown: number[] = []
    while (shown.length < count && !signal.aborted) {
      shown.push(1 + Math.floor(Math.random() * sides))
      progress(shown.length, count)
    }
    return { shown, sum: shown.reduce((sum, one) => sum + one, 0) }
  },
})
