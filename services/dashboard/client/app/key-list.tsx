import { Kbd, Modal, Table } from '@mantine/core'
import { pageKeys } from './page-keys.ts'

/** The list of keyboard shortcuts. */
export function KeyList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys">
      <Table aria-label="Keys">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Key</Table.Th>
            <Table.Th>Where</Table.Th>
            <Table.Th>What it does</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.values(pageKeys).map(({ cap, where, does }) => (
            <Table.Tr key={cap}>
              <Table.Td>
                <Kbd>{cap}</Kbd>
              </Table.Td>
              <Table.Td>{where}</Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}
