import { describeStore } from '../../../src/store/store.contract.ts'
import { crash, createMemoryDisk } from './memory-disk.ts'
import { createMemoryStore } from './memory-store.ts'

describeStore('memory', async () => {
  let disk = createMemoryDisk()
  return {
    store: createMemoryStore({ disk }),
    async reopen() {
      disk = crash(disk, { keep: 'written' })
      return createMemoryStore({ disk })
    },
    async powerCut() {
      disk = crash(disk, { keep: 'synced' })
      return createMemoryStore({ disk })
    },
    async discard() {},
  }
})
