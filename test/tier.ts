// Tests come in two tiers. `npm test` leaves out the files that end with `.slow.test.ts` and tries fewer values and seeds. `npm run
// test:all` is everything, and what CI runs. Vitest itself runs everything it is asked for.

export const isQuick = process.env.QUARTERDECK_TESTS === 'quick'

/** How many values a property test tries, or how many seeds the simulator. */
export const runs = (all: number): number => (isQuick ? Math.ceil(all / 10) : all)
