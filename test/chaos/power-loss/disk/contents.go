package main

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Operations on an open file: its bytes, and when they are durable.

func (f *filesystem) Open(_ <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	run := f.on
	if in.Flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		run = f.alter
	}
	return run(in.NodeId, func(n *inode) fuse.Status {
		if in.Flags&syscall.O_TRUNC != 0 {
			return fuse.Status(f.disk.truncate(n, 0))
		}
		return fuse.OK
	})
}

func (f *filesystem) Read(_ <-chan struct{}, in *fuse.ReadIn, buffer []byte) (fuse.ReadResult, fuse.Status) {
	length := 0
	status := f.on(in.NodeId, func(n *inode) fuse.Status {
		if in.Offset < uint64(len(n.data)) {
			length = copy(buffer, n.data[in.Offset:])
		}
		return fuse.OK
	})
	return fuse.ReadResultData(buffer[:length]), status
}

func (f *filesystem) Write(_ <-chan struct{}, in *fuse.WriteIn, bytes []byte) (uint32, fuse.Status) {
	status := f.alter(in.NodeId, func(n *inode) fuse.Status {
		offset := in.Offset
		if errno := f.disk.write(n, offset, bytes); errno != 0 {
			return fuse.Status(errno)
		}
		if in.Flags&(syscall.O_SYNC|syscall.O_DSYNC) != 0 {
			f.disk.sync(n.id)
		}
		return fuse.OK
	})
	return uint32(len(bytes)), status
}

func (f *filesystem) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return f.alter(in.NodeId, func(n *inode) fuse.Status {
		f.disk.sync(n.id)
		return fuse.OK
	})
}

func (f *filesystem) FsyncDir(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return f.Fsync(cancel, in)
}

func (f *filesystem) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (f *filesystem) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	return fuse.Status(syscall.ENOTSUP)
}
