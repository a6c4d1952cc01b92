import type { SpoolFolder } from '../body/temp-file.ts'

/** The folder, and how many files in it were begun and are still open. */
export function countSpools(folder: SpoolFolder): { folder: SpoolFolder; count: { begun: number; open: number } } {
  const count = { begun: 0, open: 0 }
  return {
    count,
    folder: {
      async begin(id) {
        const spool = await folder.begin(id)
        count.begun += 1
        count.open += 1
        let isOpen = true
        return {
          ...spool,
          async close() {
            if (isOpen) count.open -= 1
            isOpen = false
            await spool.close()
          },
        }
      },
    },
  }
}
