// Property tests try the same values in every run, so that a change which did nothing wrong never turns red. `npm run test:long` tries
// new ones, and prints the seed of a failure.

import { configureGlobal, readConfigureGlobal } from 'fast-check'

if (process.env.LONG !== '1') configureGlobal({ ...readConfigureGlobal(), seed: 20_261_116 })
