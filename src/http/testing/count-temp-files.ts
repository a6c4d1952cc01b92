import type { TempFolder } from '../body/temp-file.ts'

/** The folder, and how many files in it were begun and are still open. */
export function countTempFiles(folder: TempFolder): { folder: TempFolder; count: { begun: number; open: number } } {
  const count = { begun: 0, open: 0 }
  return {
    count,
    folder: {
      async create(id) {
        const file = await folder.create(id)
        count.begun += 1
        count.open += 1
        let isOpen = true
        return {
          ...file,
          async close() {
            if (isOpen) count.open -= 1
            isOpen = false
            await file.close()
          },
        }
      },
    },
  }
}
