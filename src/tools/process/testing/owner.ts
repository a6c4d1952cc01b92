// Starts a stubborn family, prints the pids, and ends as its argument says, without ending the family.

import { createSystemClock } from '../../../domain/clock.ts'
import { createProcessGroups } from '../process-groups.ts'

const [way] = process.argv.slice(2)
const group = createProcessGroups({ clock: createSystemClock(), process }).start({
  command: process.execPath,
  args: [`${import.meta.dirname}/family.ts`, 'stubborn'],
  env: {},
  directory: import.meta.dirname,
})
group.stdout.once('data', (line: Buffer) => {
  process.stdout.write(line, () => {
    if (way === 'throw') throw new Error('nobody catches this')
    process.exit(0)
  })
})
