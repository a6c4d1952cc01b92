// Starts a stubborn family, or a script of the shell, prints the pids, and ends as its argument says, without ending them.

import { createSystemClock } from '../../../domain/clock.ts'
import { createProcessGroups } from '../process-groups.ts'

const [way, script] = process.argv.slice(2)
const group = createProcessGroups({ clock: createSystemClock(), process }).start({
  ...(script === undefined
    ? { command: process.execPath, args: [`${import.meta.dirname}/family.ts`, 'stubborn'] }
    : { command: '/bin/sh', args: ['-c', script] }),
  env: { PATH: process.env.PATH ?? '' },
  directory: import.meta.dirname,
})
group.stdout.once('data', (line: Buffer) => {
  process.stdout.write(line, () => {
    if (way === 'throw') throw new Error('nobody catches this')
    if (way !== 'wait') process.exit(0)
  })
})
