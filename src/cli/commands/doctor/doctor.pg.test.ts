import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

test('doctor looks at the database', async () => {
  const { url, drop } = await openTestDatabase()
  onTestFinished(drop)
  const cwd = await tempFolder()
  await writeFile(join(cwd, 'agent.yaml'), 'name: a\nmodel: { provider: demo }\ninstructions: Be brief.\n')
  const storeCheck = async (store: string) => {
    const io = createTestIo({ cwd, clock: createSystemClock(), env: { NO_COLOR: '1', QUARTERDECK_STORE: store } })
    await main(['doctor', '--json'], io)
    const { checks } = JSON.parse(io.printed()) as { checks: { name: string }[] }
    return checks.find(({ name }) => name === 'Store')
  }

  expect(await storeCheck(url)).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('its tables will be made at the first start'),
  })
  expect(await storeCheck(`${url}_gone`)).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('does not exist'),
  })
})
