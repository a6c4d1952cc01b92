// Tools are functions. What they take is read from their parameters, or from a schema.

import { defineTool, type ToolContext, ToolError } from 'quarterdeck'
import { z } from 'zod'

const climates: Readonly<Record<string, { sky: string; celsius: number }>> = {
  oslo: { sky: 'snow', celsius: -3 },
  rome: { sky: 'sunny', celsius: 24 },
  london: { sky: 'rain', celsius: 11 },
}

/**
 * The weather of a city now and in the coming days. Knows Oslo, Rome and London.
 * @param city Name of the city, in English
 * @param days How many days, today included
 * @param unit In which unit to give temperatures
 */
export function getWeather(
  city: string,
  days: number = 1,
  unit: 'celsius' | 'fahrenheit' = 'celsius',
  context: ToolContext,
) {
  const climate = climates[city.toLowerCase()]
  // The model reads the message of a ToolError and can do better. Of any other error it learns only that there was one.
  if (climate === undefined)
    throw new ToolError(`${city} is unknown. Known cities: ${Object.keys(climates).join(', ')}.`)
  context.log.info('weather asked for', { days })
  const temperature = unit === 'celsius' ? climate.celsius : Math.round(climate.celsius * 1.8 + 32)
  return Array.from({ length: days }, (_, day) => ({ day, sky: climate.sky, temperature: temperature + day, unit }))
}

/** With a schema of zod, what the schema cannot say to a model (`refine`) is checked too. */
export const roll_dice = defineTool({
  description: 'Rolls dice and gives back what they show, one by one and in sum.',
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
