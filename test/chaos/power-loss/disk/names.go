package main

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// RENAME_NOREPLACE of renameat2(2), which the syscall package does not have.
const renameNoReplace = 1

// Operations on names. Each is one change, which reaches the platter as a whole or not at all.

func (f *filesystem) make(h *fuse.InHeader, name string, made inode, out *fuse.EntryOut) fuse.Status {
	return f.alter(h.NodeId, func(dir *inode) fuse.Status {
		if dir.entries[name] != 0 {
			return fuse.Status(syscall.EEXIST)
		}
		made.uid, made.gid = h.Uid, h.Gid
		if errno := f.disk.reserve(&inode{}, uint64(len(made.data))); errno != 0 {
			return fuse.Status(errno)
		}
		n := f.disk.allocate(made)
		f.disk.change(&change{entries: []entry{{dir.id, name, n.id}}})
		f.known(n, out)
		return fuse.OK
	})
}

func (f *filesystem) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return f.make(&in.InHeader, name, inode{mode: syscall.S_IFREG | in.Mode&^syscall.S_IFMT}, &out.EntryOut)
}

func (f *filesystem) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	if in.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return fuse.EPERM
	}
	return f.make(&in.InHeader, name, inode{mode: in.Mode}, out)
}

func (f *filesystem) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.make(&in.InHeader, name, inode{mode: syscall.S_IFDIR | in.Mode&^syscall.S_IFMT}, out)
}

func (f *filesystem) Symlink(
	_ <-chan struct{}, h *fuse.InHeader, target, name string, out *fuse.EntryOut,
) fuse.Status {
	return f.make(h, name, inode{mode: syscall.S_IFLNK | 0o777, data: []byte(target)}, out)
}

func (f *filesystem) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.alter(in.NodeId, func(dir *inode) fuse.Status {
		n := f.disk.live[in.Oldnodeid]
		if n == nil {
			return fuse.ENOENT
		}
		if dir.entries[name] != 0 {
			return fuse.Status(syscall.EEXIST)
		}
		f.disk.change(&change{entries: []entry{{dir.id, name, n.id}}})
		f.known(n, out)
		return fuse.OK
	})
}

func (f *filesystem) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return f.free(h.NodeId, func(dir *inode) fuse.Status {
		return f.remove(dir, name)
	})
}

func (f *filesystem) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return f.free(h.NodeId, func(dir *inode) fuse.Status {
		if n := f.disk.live[dir.entries[name]]; n != nil && len(n.entries) > 0 {
			return fuse.Status(syscall.ENOTEMPTY)
		}
		return f.remove(dir, name)
	})
}

func (f *filesystem) remove(dir *inode, name string) fuse.Status {
	id := dir.entries[name]
	if id == 0 {
		return fuse.ENOENT
	}
	f.disk.change(&change{entries: []entry{{dir.id, name, 0}}})
	f.disk.release(id)
	return fuse.OK
}

func (f *filesystem) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	return f.alter(in.NodeId, func(dir *inode) fuse.Status {
		target := f.disk.live[in.Newdir]
		if target == nil || dir.entries[from] == 0 {
			return fuse.ENOENT
		}
		moved, replaced := dir.entries[from], target.entries[to]
		switch {
		case in.Flags == renameNoReplace && replaced != 0:
			return fuse.Status(syscall.EEXIST)
		case in.Flags != 0 && in.Flags != renameNoReplace:
			return fuse.EINVAL
		case moved == replaced:
			return fuse.OK
		}
		if n := f.disk.live[replaced]; n != nil && len(n.entries) > 0 {
			return fuse.Status(syscall.ENOTEMPTY)
		}
		f.disk.change(&change{entries: []entry{{dir.id, from, 0}, {target.id, to, moved}}})
		f.disk.release(replaced)
		return fuse.OK
	})
}
