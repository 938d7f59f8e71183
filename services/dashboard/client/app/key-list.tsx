import { Kbd, Modal, Table } from '@mantine/core'
import { pageKeys } from './page-keys.ts'

/** The list of keyboard shortcuts. */
export function KeyList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <Table aria-label="Keyboard shortcuts">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Key</Table.Th>
            <Table.Th>Page</Table.Th>
            <Table.Th>Action</Table.Th>
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
